package junit

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoteAfter is the quote that is still open behind a piece of a tag.
func quoteAfter(piece []byte, quote byte) byte {
	for {
		if quote == 0 {
			at := bytes.IndexByte(piece, '"')
			if single := bytes.IndexByte(piece, '\''); single >= 0 && (at < 0 || single < at) {
				at = single
			}
			if at < 0 {
				return 0
			}
			quote, piece = piece[at], piece[at+1:]
		}
		end := bytes.IndexByte(piece, quote)
		if end < 0 {
			return quote
		}
		quote, piece = 0, piece[end+1:]
	}
}

// attributes calls take for each attribute in the text behind a tag's name.
func attributes(text []byte, take func(key string, value []byte)) {
	for {
		equals := bytes.IndexByte(text, '=')
		if equals < 0 {
			return
		}
		key := bytes.TrimSpace(text[:equals])
		text = bytes.TrimLeft(text[equals+1:], " \t\r\n")
		if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
			return
		}
		end := bytes.IndexByte(text[1:], text[0])
		if end < 0 {
			return
		}
		take(string(key), text[1:end+1])
		text = text[end+2:]
	}
}

var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// unescape resolves XML's own entities and numbers; others stay as they are.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '&') < 0 {
		return text
	}
	var out []byte
	for len(text) > 0 {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(out, text...)
		}
		out = append(out, text[:at]...)
		text = text[at:]
		end := bytes.IndexByte(text[:min(len(text), 12)], ';')
		if end < 0 {
			out, text = append(out, '&'), text[1:]
			continue
		}
		out = append(out, entity(string(text[1:end]))...)
		text = text[end+1:]
	}
	return out
}

func entity(name string) string {
	if value, known := entities[name]; known {
		return value
	}
	if digits, number := strings.CutPrefix(name, "#"); number {
		base := 10
		if hex, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
			digits, base = hex, 16
		}
		if r, err := strconv.ParseUint(digits, base, 32); err == nil && r <= utf8.MaxRune {
			return string(rune(r))
		}
	}
	return "&" + name + ";"
}
