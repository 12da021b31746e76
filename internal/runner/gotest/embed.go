package gotest

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var embedDirective = lazyregexp.New(`(?m)^//go:embed[ \t]+(.+)$`)

// embedders lists the package directories, at or above a file, whose go:embed
// patterns take it.
func (m *packageMap) embedders(file string) []string {
	var found []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, source := range m.sources[dir] {
			if content := m.read(source); bytes.Contains(content, []byte("//go:embed")) && embeds(string(content), relative(dir, file)) {
				found = append(found, dir)
				break
			}
		}
		if dir == "." {
			return found
		}
	}
}

// embeds tells whether a source's patterns take a file, given relative to the
// source's directory: by the file's own name, or by that of a directory above.
func embeds(source, file string) bool {
	for _, match := range embedDirective.FindAllStringSubmatch(source, -1) {
		for _, pattern := range embedPatterns(match[1]) {
			pattern = strings.TrimPrefix(pattern, "all:")
			if pattern == "." {
				return true
			}
			for part := file; part != "."; part = path.Dir(part) {
				if ok, err := path.Match(pattern, part); ok && err == nil {
					return true
				}
			}
		}
	}
	return false
}

// embedPatterns splits a directive's arguments, which may be Go strings.
func embedPatterns(arguments string) []string {
	var found []string
	for rest := strings.TrimSpace(arguments); rest != ""; rest = strings.TrimSpace(rest) {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			pattern, _ := strconv.Unquote(quoted)
			found, rest = append(found, pattern), rest[len(quoted):]
			continue
		}
		word := strings.Fields(rest)[0]
		found, rest = append(found, word), rest[len(word):]
	}
	return found
}
