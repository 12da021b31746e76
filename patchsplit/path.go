package patchsplit

import (
	"errors"
	"fmt"
	"strings"
)

// unquote reads a name as git writes it, in double quotes with C escapes, and
// returns what follows it.
func unquote(s string) (name, rest string, err error) {
	var out []byte
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return string(out), s[i+1:], nil
		case '\\':
			b, n := escape(s[i+1:])
			if n == 0 {
				return "", "", fmt.Errorf("quoted name %.80s has an unknown escape", s)
			}
			out = append(out, b)
			i += n
		default:
			out = append(out, s[i])
		}
	}
	return "", "", fmt.Errorf("quoted name %.80s has no end", s)
}

// escape reads what follows a backslash, n is 0 when it means nothing.
func escape(s string) (b byte, n int) {
	if s == "" {
		return 0, 0
	}
	if i := strings.IndexByte(`abtnvfr"\`, s[0]); i >= 0 {
		return "\a\b\t\n\v\f\r\"\\"[i], 1
	}
	if len(s) < 3 || s[0] > '3' {
		return 0, 0
	}
	for _, digit := range []byte(s[:3]) {
		if digit < '0' || digit > '7' {
			return 0, 0
		}
	}
	return (s[0]-'0')<<6 | (s[1]-'0')<<3 | (s[2] - '0'), 3
}

// checkPath refuses names that no commit should hold and that would leave the
// tree, or reach git's own files, on some file system.
func checkPath(path string) error {
	switch {
	case path == "":
		return errors.New("a file has no name")
	case len(path) > maxName:
		return fmt.Errorf("path %.40q… is longer than the limit of %d bytes", path, maxName)
	case isPlain(path):
		return nil
	}
	return checkOdd(path)
}

// checkOdd is checkPath for paths that are not plain.
func checkOdd(path string) error {
	switch {
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("path %q holds a NUL", path)
	case path[0] == '/' || path[0] == '\\' || len(path) > 1 && path[1] == ':' && isLetter(path[0]):
		return fmt.Errorf("path %q is absolute", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("path %q leaves or repeats a directory", path)
		}
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." || isGitDir(part) {
			return fmt.Errorf("path %q reaches outside the tree or into .git", path)
		}
	}
	return nil
}

// isPlain holds for most paths there are: letters, digits, - and _ and dots
// within a name. Nothing can be wrong with these.
func isPlain(path string) bool {
	last := byte('/')
	for i := range len(path) {
		b := path[i]
		switch {
		case isLetter(b) || '0' <= b && b <= '9' || b == '_' || b == '-':
		case (b == '.' || b == '/') && last != '/':
		default:
			return false
		}
		last = b
	}
	return last != '/'
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// isGitDir knows every name that some file system takes for .git: other case,
// trailing dots and blanks and streams (NTFS), short names, ignored code points
// (HFS+).
func isGitDir(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(strings.ToLower(name), ":")
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == "git~1"
}

// nameLine reads the name on a "--- " or "+++ " line: up to a tab, or quoted.
func nameLine(line string) (string, error) {
	text := strings.TrimSuffix(string(line[4:]), "\n")
	if strings.HasPrefix(text, `"`) {
		name, _, err := unquote(text)
		return name, err
	}
	name, _, _ := strings.Cut(text, "\t")
	if strings.HasSuffix(line, "\r\n") && strings.HasSuffix(text, "\r") {
		return "", fmt.Errorf("the diff's own lines end in CR LF, not only its content: write it in binary mode")
	}
	return name, nil
}
