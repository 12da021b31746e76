package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	text := strings.Repeat("a long enough line\n", 20)
	f.write("old name", text)
	f.write("script", "#!/bin/sh\n")
	f.write("becomes a link", "x")
	f.write("line\nbreak \"quoted\" caf\xe9", "1")
	base := f.commit("base")
	f.git("mv", "old name", "R new\nname")
	f.write("R new\nname", text+"more\n")
	os.Chmod(f.path("script"), 0o755)
	os.Remove(f.path("becomes a link"))
	os.Symlink("x", f.path("becomes a link"))
	f.write("line\nbreak \"quoted\" caf\xe9", "2")
	f.git("update-index", "--add", "--cacheinfo", "160000,"+base+",module")
	f.write(".gitmodules", "[submodule \"module\"]\n\tpath = module\n\turl = x\n\tignore = all\n")
	f.git("add", "-A", "--", ":!module")
	f.git("commit", "-q", "-m", "head")
	repo := f.open()
	changes, err := repo.Changes(ctx, base, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%c %o %o %q %q", c.Status, c.OldMode, c.NewMode, c.OldPath, c.Path))
		if c.Status == 'R' && (c.Score < 50 || c.Score >= 100) {
			t.Errorf("score %d", c.Score)
		}
	}
	want := []string{
		`A 0 100644 ".gitmodules" ".gitmodules"`,
		`R 100644 100644 "old name" "R new\nname"`,
		`T 100644 120000 "becomes a link" "becomes a link"`,
		`M 100644 100644 "line\nbreak \"quoted\" caf\xe9" "line\nbreak \"quoted\" caf\xe9"`,
		`A 0 160000 "module" "module"`,
		`M 100644 100755 "script" "script"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	differences, err := repo.Differences(ctx, base, "HEAD")
	if err != nil || len(differences) != len(want)+1 {
		t.Errorf("without renames: %v, %v", differences, err)
	}
	if changes, err := repo.Changes(ctx, base, base); len(changes) != 0 || err != nil {
		t.Errorf("nothing: %v, %v", changes, err)
	}
}

// TestManyRenamesStayFast holds that the quadratic search is given up, and that
// a move of equal content is found all the same.
func TestManyRenamesStayFast(t *testing.T) {
	f := newFixture(t)
	const many = 1010
	for i := range many {
		f.write(fmt.Sprint("old/", i), strings.Repeat(fmt.Sprintf("file %d\n", i), 20))
	}
	f.write("old/same", "same\n")
	base := f.commit("base")
	f.git("mv", "old/same", "moved")
	f.git("rm", "-q", "-r", "old")
	for i := range many {
		f.write(fmt.Sprint("new/other", i), strings.Repeat(fmt.Sprintf("file %d\n", i), 20)+"more\n")
	}
	head := f.commit("head")
	changes, err := f.open().Changes(context.Background(), base, head)
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[byte]int)
	for _, c := range changes {
		count[c.Status]++
	}
	if count['R'] != 1 || count['A'] != many || count['D'] != many {
		t.Errorf("%v", count)
	}
}

func TestParseChangeRefusesNonsense(t *testing.T) {
	for _, record := range [][]string{{"", "a"}, {":100644 100644 a b", "p"}, {":x 100644 a b M", "p"}, {":100644 100644 a b M", "../p"}, {":100644 100644 a b Rx", "p", "q"}, {":100644 100644 a b R100", ".git/p", "q"}} {
		if c, err := parseChange(record); err == nil {
			t.Errorf("%q: %+v", record, c)
		}
	}
}

func TestWordFiles(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("a.py", "def split(): pass\n")
	f.write("b.py", "splitter = 1\n")
	f.write("dir/line\nbreak.py", "x.split()\n")
	f.write("binary", "split\x00")
	f.write("dots", "a.b\naxb c\n")
	f.commit("one")
	repo := f.open()
	tree, err := repo.TreeOf(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		word  string
		under []string
		want  []string
	}{
		{"split", nil, []string{"a.py", "dir/line\nbreak.py"}},
		{"split", []string{"dir", "b.py"}, []string{"dir/line\nbreak.py"}},
		{"split", []string{"*.py"}, nil}, // literal, not a pattern
		{"absent", nil, nil},
		{"a.b", nil, []string{"dots"}},
		{"-e", nil, nil},
	} {
		if files, err := repo.WordFiles(ctx, tree, c.word, c.under...); err != nil || !slices.Equal(files, c.want) {
			t.Errorf("%q under %q: %q, %v", c.word, c.under, files, err)
		}
	}
	for _, word := range []string{"", "a\nb"} {
		if _, err := repo.WordFiles(ctx, tree, word); err == nil {
			t.Errorf("%q was looked for", word)
		}
	}
	if _, err := repo.WordFiles(ctx, strings.Repeat("0", 40), "a"); err == nil {
		t.Error("a missing tree was searched")
	}
}
