package console

import "io"

// Parsed is a place for a report to be written to, which a parser reads meanwhile.
// The function that it returns ends the report and tells what the parser made of
// it. A parser that stops early keeps nobody waiting: the rest is thrown away.
func Parsed(parse func(io.Reader) error) (report io.Writer, end func() error) {
	reader, writer := io.Pipe()
	parsed := make(chan error, 1)
	go func() {
		err := parse(reader)
		_, _ = io.Copy(io.Discard, reader)
		parsed <- err
	}()
	return writer, func() error {
		writer.Close()
		return <-parsed
	}
}
