package config

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/touchstone-gate/touchstone/gate"
)

// The types of single values. Each refuses what it cannot mean, at the value's
// own line and column.
type (
	Version     int
	AppliesTo   string // all, agents, label:<name>
	Mode        string // enforce, advisory
	Framework   string
	Dir         string // repository-relative, slash-separated, inside the repository
	SandboxKind string
	Network     string // none, open
	Trust       string // ask, accept
	Requirement gate.Requirement
	Level       gate.Level
	Kind        string
	Strategy    string
	Comment     string // off, failures, always
	CheckName   string // one plain line, fit for a hidden marker
	Duration    time.Duration
	Bytes       int64
	Count       int
	Rate        float64 // a probability, 0 to 1
)

var (
	frameworks = []string{"pytest", "unittest", "django", "gotest", "jest", "vitest", "mocha", "node", "ava", "cargo", "maven", "gradle", "rspec", "minitest", "ctest", "dotnet", "phpunit", "junit", "tap"}
	kinds      = []string{"fix", "feature", "refactor", "tests", "docs", "dependency", "revert", "unknown"}
)

func (v *Version) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Version, error) {
		if text != "1" {
			return 0, fmt.Errorf("version %q is not known: this touchstone reads version 1", text)
		}
		return 1, nil
	})
}

func (v *AppliesTo) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (AppliesTo, error) {
		if name, ok := strings.CutPrefix(text, "label:"); ok && name != "" {
			return AppliesTo(text), nil
		}
		if text != "all" && text != "agents" {
			return "", fmt.Errorf("%q is not all, agents or label:<name>", text)
		}
		return AppliesTo(text), nil
	})
}

func (v *Mode) UnmarshalYAML(n ast.Node) error        { return oneOf(n, v, "enforce", "advisory") }
func (v *Framework) UnmarshalYAML(n ast.Node) error   { return oneOf(n, v, frameworks...) }
func (v *SandboxKind) UnmarshalYAML(n ast.Node) error { return oneOf(n, v, SandboxKinds()...) }
func (v *Network) UnmarshalYAML(n ast.Node) error     { return oneOf(n, v, "none", "open") }
func (v *Trust) UnmarshalYAML(n ast.Node) error       { return oneOf(n, v, "ask", "accept") }
func (v *Kind) UnmarshalYAML(n ast.Node) error        { return oneOf(n, v, kinds...) }
func (v *Comment) UnmarshalYAML(n ast.Node) error     { return scalar(n, v, ParseComment) }
func (v *Strategy) UnmarshalYAML(n ast.Node) error {
	return oneOf(n, v, "auto", "names", "lines", "files", "imports", "all")
}

// SandboxKinds are the values of sandbox.kind and --sandbox.
func SandboxKinds() []string { return []string{"auto", "overlay", "docker", "copy"} }

func (v *CheckName) UnmarshalYAML(n ast.Node) error { return scalar(n, v, ParseCheckName) }

// ParseCheckName reads the name of a check: it stands in a hidden comment of
// HTML, so nothing that could end one is allowed.
func ParseCheckName(text string) (CheckName, error) {
	plain := !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune("<>\"`", c) })
	if text == "" || len(text) > 100 || !plain || strings.Contains(text, "--") || strings.TrimSpace(text) != text {
		return "", fmt.Errorf("%q is not the name of a check: use 1 to 100 bytes of plain text, without < > \" ` and --", text)
	}
	return CheckName(text), nil
}

// ParseComment reads when to comment.
func ParseComment(text string) (Comment, error) {
	if text != "off" && text != "failures" && text != "always" {
		return "", fmt.Errorf("%q is not off, failures or always", text)
	}
	return Comment(text), nil
}

func (v *Dir) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Dir, error) {
		clean := path.Clean(strings.ReplaceAll(text, `\`, "/"))
		if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			return "", fmt.Errorf("directory %q is not inside the repository: give a path relative to its root", text)
		}
		return Dir(clean), nil
	})
}

func (v *Requirement) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Requirement, error) {
		r, err := gate.ParseRequirement(text)
		return Requirement(r), err
	})
}

func (v *Level) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Level, error) {
		l, err := gate.ParseLevel(text)
		return Level(l), err
	})
}

func (v *Duration) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return 0, fmt.Errorf("%q is not a duration: write it like 90s or 10m", text)
		}
		return Duration(d), nil
	})
}

func (v *Count) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Count, error) {
		i, err := strconv.Atoi(text)
		if err != nil || i < 1 || i > 1_000_000 {
			return 0, fmt.Errorf("%q is not a whole number from 1 to 1000000", text)
		}
		return Count(i), nil
	})
}

func (v *Rate) UnmarshalYAML(n ast.Node) error {
	return scalar(n, v, func(text string) (Rate, error) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return 0, fmt.Errorf("%q is not a probability from 0 to 1", text)
		}
		return Rate(f), nil
	})
}

func (v *Bytes) UnmarshalYAML(n ast.Node) error { return scalar(n, v, ParseBytes) }

// ParseBytes reads a size: a whole number with one of the units B, KiB, MiB, GiB.
func ParseBytes(text string) (Bytes, error) {
	digits := strings.TrimRight(text, "BKMGikg ")
	number, err := strconv.ParseInt(digits, 10, 40)
	shift, known := map[string]uint{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[strings.TrimSpace(text[len(digits):])]
	if err != nil || number <= 0 || !known || number > 1<<50>>shift {
		return 0, fmt.Errorf("%q is not a size: write it like 512MiB or 4GiB", text)
	}
	return Bytes(number << shift), nil
}

func oneOf[T ~string](n ast.Node, dst *T, allowed ...string) error {
	return scalar(n, dst, func(text string) (T, error) {
		if !slices.Contains(allowed, text) {
			return "", fmt.Errorf("%q is not one of %s", text, list(allowed))
		}
		return T(text), nil
	})
}

func list(words []string) string { return strings.Join(words, ", ") }

// scalar decodes one value and ties its error to the value's position.
func scalar[T any](n ast.Node, dst *T, parse func(string) (T, error)) error {
	fail := func(format string, args ...any) error {
		return &yaml.SyntaxError{Message: fmt.Sprintf(format, args...), Token: n.GetToken()}
	}
	value, ok := n.(ast.ScalarNode)
	if !ok {
		return fail("a single value is wanted here, not a %s", strings.ToLower(n.Type().String()))
	}
	parsed, err := parse(fmt.Sprint(value.GetValue()))
	if err != nil {
		return fail("%v", err)
	}
	*dst = parsed
	return nil
}
