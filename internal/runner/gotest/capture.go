package gotest

// maxOutput bounds what is kept of one text, in bytes, head and tail.
const maxOutput = 16 << 10

// capture keeps the head and the tail of a text.
type capture struct {
	head, tail []byte
	dropped    bool
}

func (c *capture) add(text string) {
	if room := maxOutput/2 - len(c.head); room > 0 {
		n := min(room, len(text))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
	}
	c.tail = append(c.tail, text...)
	if len(c.tail) > maxOutput { // halve, so that the work stays linear
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-maxOutput/2:]...)
		c.dropped = true
	}
}

// Write lets a process print into a capture.
func (c *capture) Write(p []byte) (int, error) {
	c.add(string(p))
	return len(p), nil
}

func (c *capture) String() string {
	if c == nil {
		return ""
	}
	if c.dropped {
		return string(c.head) + "\n…\n" + string(c.tail)
	}
	return string(c.head) + string(c.tail)
}
