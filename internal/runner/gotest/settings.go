package gotest

import (
	"cmp"
	"go/build"
	"strings"
)

// settings is what the configured command and environment mean for calls other
// than go test: which files the build takes, and flags that reach go list.
type settings struct {
	tags    []string
	goos    string
	goarch  string
	cgo     bool
	list    []string // build flags, as go list takes them
	filters bool     // the command itself leaves tests out
	gcflags bool     // the command itself sets -gcflags
	goflags string   // for the environment
}

// valued are the flags whose value may be the next word.
var valued = map[string]bool{"tags": true, "mod": true, "modfile": true, "run": true, "skip": true}

func readSettings(c Config) settings {
	s := settings{goos: cmp.Or(c.Env["GOOS"], build.Default.GOOS), goarch: cmp.Or(c.Env["GOARCH"], build.Default.GOARCH)}
	s.cgo = build.Default.CgoEnabled
	if value, set := c.Env["CGO_ENABLED"]; set {
		s.cgo = value != "0"
	}
	s.goflags = "-buildvcs=false"
	for _, word := range strings.Fields(c.Env["GOFLAGS"]) {
		if name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); name == "mod" && value == "mod" {
			continue // it would write go.mod and go.sum
		}
		s.goflags += " " + word
		s.take([]string{word})
	}
	s.list = nil // GOFLAGS reaches go list by itself
	for i := range c.Command {
		s.take(c.Command[i:])
	}
	return s
}

// take reads the flag at the head of words, if it is one.
func (s *settings) take(words []string) {
	name, value, given := strings.Cut(strings.TrimLeft(words[0], "-"), "=")
	if !strings.HasPrefix(words[0], "-") {
		return
	}
	if !given && valued[name] && len(words) > 1 {
		value = words[1]
	}
	switch name {
	case "tags":
		s.tags = append(s.tags, strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' })...)
		s.list = append(s.list, "-tags="+value)
	case "mod", "modfile":
		s.list = append(s.list, "-"+name+"="+value)
	case "race", "msan", "asan":
		if value != "false" {
			s.tags = append(s.tags, name)
			s.list = append(s.list, "-"+name)
		}
	case "run", "skip":
		s.filters = true
	case "gcflags":
		s.gcflags = true
	}
}
