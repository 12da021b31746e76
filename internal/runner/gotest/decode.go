package gotest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder reads events. Those in the shape that test2json writes are read without
// the general decoder, which takes several times as long; it decides over all
// others, and what it refuses is no event.
type decoder struct {
	pkg, test string // of the event before: most share them
	text      []byte
}

// decode reads one line.
func (d *decoder) decode(line []byte) (event, bool) {
	var e event
	if d.plain(line, &e) {
		return e, e.Action != ""
	}
	e = event{}
	return e, json.Unmarshal(line, &e) == nil && e.Action != ""
}

// plain reads a line whose members all have the names and shapes that test2json
// gives them, each at most once; false for any other.
func (d *decoder) plain(line []byte, e *event) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) < 2 || line[0] != '{' {
		return false
	}
	seen, at := 0, 1
	for {
		key, next, ok := d.word(line, at)
		if !ok || next >= len(line) || line[next] != ':' {
			return false
		}
		field := index(key)
		if field < 0 || seen&(1<<field) != 0 {
			return false
		}
		seen |= 1 << field
		if next, ok = d.value(line, next+1, field, e); !ok || next >= len(line) {
			return false
		}
		switch line[next] {
		case ',':
			at = next + 1
		case '}':
			return next == len(line)-1
		default:
			return false
		}
	}
}

// The members of an event.
const (
	timeField = iota
	actionField
	packageField
	testField
	elapsedField
	outputField
	importPathField
	failedBuildField
)

func index(key []byte) int {
	switch string(key) {
	case "Time":
		return timeField
	case "Action":
		return actionField
	case "Package":
		return packageField
	case "Test":
		return testField
	case "Elapsed":
		return elapsedField
	case "Output":
		return outputField
	case "ImportPath":
		return importPathField
	case "FailedBuild":
		return failedBuildField
	}
	return -1
}

// value reads a member's value into the event.
func (d *decoder) value(line []byte, at, field int, e *event) (next int, ok bool) {
	if field == elapsedField {
		for next = at; next < len(line) && (line[next] >= '0' && line[next] <= '9' || line[next] == '.' && next > at); next++ {
		}
		if next == at || line[at] == '0' && next > at+1 && line[at+1] != '.' || line[next-1] == '.' {
			return 0, false
		}
		value, err := strconv.ParseFloat(string(line[at:next]), 64)
		e.Elapsed = value
		return next, err == nil
	}
	text, next, ok := d.word(line, at)
	if !ok {
		return 0, false
	}
	switch field {
	case actionField:
		e.Action = known(text)
	case packageField:
		e.Package = same(&d.pkg, text)
	case testField:
		e.Test = same(&d.test, text)
	case outputField:
		e.Output = string(text)
	case importPathField:
		e.ImportPath = string(text)
	case failedBuildField:
		e.FailedBuild = string(text)
	}
	return next, true
}

// same is the text, as the string before where it is equal.
func same(before *string, text []byte) string {
	if *before != string(text) {
		*before = string(text)
	}
	return *before
}

func known(action []byte) string {
	for _, one := range []string{"output", "run", "pass", "pause", "cont", "fail", "skip", "start"} {
		if string(action) == one {
			return one
		}
	}
	return string(action)
}

// word reads a JSON string. What it returns is good until the next call.
func (d *decoder) word(line []byte, at int) (text []byte, next int, ok bool) {
	if at >= len(line) || line[at] != '"' {
		return nil, 0, false
	}
	at++
	for i := at; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return line[at:i], i + 1, utf8.Valid(line[at:i])
		case c == '\\':
			return d.escaped(line, at, i)
		case c < 0x20:
			return nil, 0, false
		}
	}
	return nil, 0, false
}

var escapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '"': '"', '\\': '\\', '/': '/'}

// escaped reads on from the first escape of a string that begins at a place.
func (d *decoder) escaped(line []byte, at, i int) (text []byte, next int, ok bool) {
	d.text = append(d.text[:0], line[at:i]...)
	for ; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return d.text, i + 1, utf8.Valid(d.text)
		case c < 0x20:
			return nil, 0, false
		case c != '\\':
			d.text = append(d.text, c)
		case i+1 >= len(line):
			return nil, 0, false
		case line[i+1] == 'u':
			if i+6 > len(line) {
				return nil, 0, false
			}
			r, err := strconv.ParseUint(string(line[i+2:i+6]), 16, 32)
			if err != nil || utf16.IsSurrogate(rune(r)) {
				return nil, 0, false // the general decoder knows what to make of it
			}
			d.text = utf8.AppendRune(d.text, rune(r))
			i += 5
		case escapes[line[i+1]] == 0:
			return nil, 0, false
		default:
			d.text = append(d.text, escapes[line[i+1]])
			i++
		}
	}
	return nil, 0, false
}
