package gotest

import (
	"slices"
	"strings"
	"testing"
)

var unitTree = files{
	"go.mod":                       mod,
	"main.go":                      "package main\nimport _ \"m.test/x/lib\"\n",
	"main_test.go":                 "package main\n",
	"lib/lib.go":                   "package lib\nimport _ \"embed\"\n//go:embed data/*.toml \"odd name.txt\" all:tree\nvar data string\n",
	"lib/data/a.toml":              "",
	"lib/odd name.txt":             "",
	"lib/tree/deep/x":              "",
	"user/user.go":                 "package user\nimport _ \"m.test/x/lib\"\n",
	"user/user_test.go":            "package user\n",
	"far/far.go":                   "package far\nimport _ \"m.test/x/user\"\n",
	"far/far_test.go":              "package far_test\n",
	"alone/alone_test.go":          "package alone\nimport _ \"m.test/x/internal/testutil\"\n",
	"alone/use.go":                 "package alone\n",
	"above/above.go":               "package above\nimport _ \"m.test/x/alone\"\n",
	"above/above_test.go":          "package above\n",
	"internal/testutil/util.go":    "package testutil\n",
	"alone/testdata/in/golden.txt": "",
	"golden/shared.json":           "",
	"reader/reader_test.go":        "package reader\nvar path = \"../golden/\" + name\n",
	"named/named_test.go":          "package named\nvar path = \"shared.json\"\n",
	"nested/go.mod":                "module m.test/nested\n",
	"nested/n_test.go":             "package nested\n",
	"nested/fixture.txt":           "",
	"vendor/v/v_test.go":           "package v\n",
	"_old/o_test.go":               "package old\n",
	"testdata/src/t_test.go":       "package t\n",
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ changed, want string }{
		{"user/user_test.go", "user"},
		{"user/deleted_test.go", "user"},
		{"gone/gone_test.go", ""},
		{"alone/testdata/in/golden.txt", "alone"},
		{"testdata/src/t_test.go", "."},
		{"vendor/v/v_test.go", "."},
		{"lib/data/a.toml", ". far user"},
		{"lib/data/new.toml", ". far user"},
		{"lib/odd name.txt", ". far user"},
		{"lib/tree/deep/x", ". far user"},
		{"lib/data/a.json", "."},
		{"internal/testutil/util.go", ". alone"},
		{"alone/use.go", "above alone"},
		{"golden/shared.json", ". named reader"},
		{"golden/other.json", ". reader"},
		{"nested/fixture.txt", ""},
		{"nested/n_test.go", ""},
	} {
		got, err := New(Config{}).Units(t.Context(), unitTree, []string{c.changed}, false)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q (%v)", c.changed, strings.Join(got, " "), c.want, err)
		}
	}
	for dir, want := range map[string]string{".": ". above alone far named reader user", "nested": "nested", "user": "user"} {
		if got, _ := New(Config{Dir: dir}).Units(t.Context(), unitTree, nil, true); strings.Join(got, " ") != want {
			t.Errorf("all of %s: %q, want %q", dir, got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	got := Detect(files{
		"go.mod": mod, "work/go.work": "go 1.21\nuse (\n\t./a // here\n\t../b\n)\nuse \"./c\"\n", "work/a/go.mod": "", "b/go.mod": "", "work/c/go.mod": "", "work/d/go.mod": "",
		"testdata/t/go.mod": "", "_x/go.mod": "", "a/vendor/v/go.mod": "",
	})
	want := []Candidate{{"work", "go.work"}, {".", "go.mod"}, {"work/d", "go.mod"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
