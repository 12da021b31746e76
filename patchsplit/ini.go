package patchsplit

import (
	"bytes"
	"strings"
)

// iniSection reads one section of an INI file as Python's configparser does,
// as far as lists need it: key = value or key: value, continuation lines
// indented, comments on their own lines. ok is false without the section.
func iniSection(data []byte, section string) (values map[string]string, ok bool) {
	values = make(map[string]string)
	inside, key := false, ""
	for raw := range bytes.Lines(data) {
		line := strings.TrimRight(string(raw), " \t\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
			continue
		case line[0] == '[':
			inside = line == "["+section+"]"
			ok, key = ok || inside, ""
		case !inside:
			continue
		case (line[0] == ' ' || line[0] == '\t') && key != "":
			values[key] += "\n" + trimmed
		default:
			if i := strings.IndexAny(line, "=:"); i > 0 {
				key = strings.TrimSpace(line[:i])
				values[key] = strings.TrimSpace(line[i+1:])
			}
		}
	}
	return values, ok
}
