package patchsplit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const (
	hunk    = "@@ -1 +1 @@\n-a\n+b\n"
	simple  = "diff --git a/x b/x\nindex 7898192..6178079 100644\n--- a/x\n+++ b/x\n" + hunk
	created = "diff --git a/n b/n\nnew file mode 100644\nindex 0000000..7898192\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n"
)

func TestParseAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // status, names
	}{
		"git":             {simple, "modified:x"},
		"new":             {created, "added:n"},
		"two":             {simple + created, "modified:x added:n"},
		"plain":           {"--- a/d/x.py\t2024-01-01 00:00:00\n+++ b/d/x.py\t2024-01-01\n" + hunk, "modified:d/x.py"},
		"plain dirs":      {"diff -ru old/x new/x\n--- old/x\n+++ new/x\n" + hunk, "modified:x"},
		"plain backup":    {"--- x.c.orig\n+++ x.c\n" + hunk, "modified:x.c"},
		"plain new":       {"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", "added:n"},
		"plain epoch":     {"--- a/n\t1970-01-01 00:00:00.000000000 +0000\n+++ b/n\t2024-01-01\n@@ -0,0 +1 @@\n+a\n", "added:n"},
		"epoch content":   {"--- a/x\t1970-01-01 00:00:00\n+++ b/x\t1970-01-01 00:00:00\n" + hunk, "modified:x"},
		"no prefix":       {"diff --git d/x d/x\nindex 7898192..6178079 100644\n--- d/x\n+++ d/x\n" + hunk, "modified:d/x"},
		"mail":            {"From 1234 Mon\nSubject: [PATCH] x\n\n - a list\n---\n x | 2 +-\n\n" + simple + "-- \n2.39.5\n\n", "modified:x"},
		"git show":        {"commit 1234\nAuthor: a\n\n    text\n\n" + simple, "modified:x"},
		"mode":            {"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "modified:x"},
		"blank names":     {"diff --git a/a b/a b b/a b/a b\nold mode 100644\nnew mode 100755\n", "modified:a b/a b"},
		"whole rename":    {"diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", "renamed:o>n"},
		"copy":            {"diff --git a/o b/n\nsimilarity index 100%\ncopy from o\ncopy to n\n", "copied:o>n"},
		"quoted":          {"diff --git \"a/t\\tb\\\\\" \"b/t\\tb\\\\\"\nold mode 100644\nnew mode 100755\n", "modified:t\tb\\"},
		"octal":           {"diff --git \"a/\\303\\274\" \"b/\\303\\274\"\nold mode 100644\nnew mode 100755\n", "modified:ü"},
		"empty new":       {"diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", "added:e"},
		"type change":     {"diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\ndiff --git a/x b/x\nnew file mode 120000\nindex 0000000..7898192\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", "deleted:x added:x"},
		"binary no data":  {"diff --git a/b b/b\nindex 7898192..6178079 100644\nBinary files a/b and b/b differ\n", "modified:b"},
		"blank context":   {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b\n", "modified:x"},
		"minus lines":     {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n-q\n+++ b/y\n+q\n", "modified:x"},
		"gitignore":       {"diff --git a/.gitignore b/.gitignore\n--- a/.gitignore\n+++ b/.gitignore\n" + hunk, "modified:.gitignore"},
		"nothing":         {"", ""},
		"only blanks":     {"\n\n", ""},
		"unified section": {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ func main() {\n-a\n+b\n", "modified:x"},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := Parse(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if string(patch.Bytes()) != c.text {
				t.Errorf("prints %q", patch.Bytes())
			}
			var got []string
			for _, f := range patch.Changes() {
				path := f.Path
				if f.OldPath != "" {
					path = f.OldPath + ">" + path
				}
				got = append(got, f.Status.String()+":"+path)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	section := func(path string) string {
		return fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n%s", path, path, path, path, hunk)
	}
	for name, c := range map[string]struct{ text, want string }{
		"escape":             {section("../x"), `path "../x" leaves`},
		"escape below":       {section("d/../../x"), "leaves"},
		"escape by rename":   {"diff --git a/o b/../n\nsimilarity index 100%\nrename from o\nrename to ../n\n", "leaves"},
		"absolute":           {"diff --git a//etc/passwd b//etc/passwd\n--- a//etc/passwd\n+++ b//etc/passwd\n" + hunk, "absolute"},
		"drive":              {section("C:/x"), "absolute"},
		"backslash escape":   {section(`d\..\..\x`), "outside the tree"},
		"git dir":            {section(".git/hooks/pre-commit"), "into .git"},
		"git dir case":       {section("d/.GIT/config"), "into .git"},
		"git dir short":      {section("git~1/config"), "into .git"},
		"git dir dots":       {section(".git. ./config"), "into .git"},
		"git dir stream":     {section(".git::$INDEX_ALLOCATION/config"), "into .git"},
		"git dir ignored":    {section(".g\u200cit/config"), "into .git"},
		"git dir backslash":  {section(`x\.git\config`), "into .git"},
		"long name":          {section(strings.Repeat("x", 5000)), "limit of 4096"},
		"nul":                {"diff --git \"a/x\\000y\" \"b/x\\000y\"\nold mode 100644\nnew mode 100755\n", "NUL"},
		"header disagrees":   {"diff --git a/x b/x\n--- a/x\n+++ b/y\n" + hunk, "disagrees with the names below it"},
		"names disagree":     {"diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", "disagrees with the names"},
		"rename disagrees":   {"diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to m\n", "disagrees with the names"},
		"new but not null":   {"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..7898192\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "disagrees with the header"},
		"null but not new":   {"diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "disagrees with the header"},
		"new and deleted":    {"diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n", "both new and deleted"},
		"new with old lines": {"diff --git a/n b/n\nnew file mode 100644\nindex 0000000..7898192\n--- /dev/null\n+++ b/n\n" + hunk, "new file has old lines"},
		"rename to itself":   {"diff --git a/x b/x\nsimilarity index 100%\nrename from x\nrename to x\n", "to itself"},
		"said twice":         {"diff --git a/x b/x\n--- a/x\n--- a/x\n+++ b/x\n" + hunk, "twice"},
		"odd mode":           {"diff --git a/x b/x\nold mode 100644\nnew mode 100777\n", "not a file mode"},
		"combined":           {"diff --cc x\nindex 1234,1235..1236\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n", "combined diff"},
		"combined hunk":      {"@@@ -1,1 -1,1 +1,1 @@@\n", "combined diff"},
		"cut header":         {"diff --git a/x b/x\nindex 7898192..6178079 100644\n", "cut short"},
		"cut names":          {"diff --git a/x b/x\nindex 7898192..6178079 100644\n--- a/x\n", "cut short"},
		"no hunks":           {"diff --git a/x b/x\n--- a/x\n+++ b/x\n", "cut short"},
		"cut rename":         {"diff --git a/o b/n\nsimilarity index 90%\nrename from o\nrename to n\n", "cut short"},
		"cut new file":       {"diff --git a/n b/n\nnew file mode 100644\n", "cut short"},
		"cut hunk":           {strings.TrimSuffix(simple, "+b\n"), "line 7, file \"x\": the diff ends inside a hunk"},
		"cut line":           {strings.TrimSuffix(simple, "\n"), "middle of a line"},
		"too few lines":      {strings.Replace(simple, "@@ -1 +1 @@", "@@ -1,2 +1,2 @@", 1) + created, "stands inside a hunk"},
		"too many lines":     {simple + "+c\n", "outside every hunk"},
		"more old lines":     {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n-a\n-b\n+c\n", "more lines than its header"},
		"bad hunk header":    {strings.Replace(simple, "@@ -1 +1 @@", "@@ -1 +1", 1), "not a hunk header"},
		"damaged second":     {simple + "@ -5 +5 @@\n-a\n+b\n", "outside every hunk"},
		"overlap":            {simple + hunk, "overlap"},
		"no change":          {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n", "changes nothing"},
		"damaged header":     {created + "dlff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk, "a header was damaged"},
		"headless":           {hunk, "without a file header"},
		"twice":              {simple + simple, "one patch at a time"},
		"crlf headers":       {strings.ReplaceAll(simple, "\n", "\r\n"), "CR LF"},
		"only in":            {"Only in b: x\n" + simple, "does not carry"},
		"plain binary":       {simple + "Binary files a/b and b/b differ\n", "does not carry"},
		"submodule log":      {"Submodule lib 1234567..89abcde:\n  > more\n" + simple, "does not carry"},
		"unmerged":           {"* Unmerged path x\n" + simple, "does not carry"},
		"no diff":            {"hello\n", "no file change"},
		"text cut":           {simple + "diff --gi", "middle of a line"},
		"binary cut":         {"diff --git a/b b/b\nindex 7898192..6178079 100644\nGIT binary patch\n", "cut short"},
		"binary cut data":    {"diff --git a/b b/b\nindex 7898192..6178079 100644\nGIT binary patch\nliteral 3\nKcmYdfU|?5t\n", "inside binary data"},
		"binary bad data":    {"diff --git a/b b/b\nindex 7898192..6178079 100644\nGIT binary patch\nliteral 3\nKcmYdf\n\n", "binary patch"},
		"binary bomb":        {"diff --git a/b b/b\nindex 7898192..6178079 100644\nGIT binary patch\nliteral 99999999999\nA00000\n\n", "limit of 268435456"},
		"hunk after mode":    {"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n" + hunk, "without ---"},
		"bad quote":          {"diff --git \"a/x\\q\" \"b/x\\q\"\nold mode 100644\nnew mode 100755\n", "unknown escape"},
		"open quote":         {"diff --git \"a/x b/x\nold mode 100644\nnew mode 100755\n", "no end"},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := Parse(strings.NewReader(c.text))
			if err == nil {
				t.Fatalf("accepted, with %d files", len(patch.Files))
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

// TestCutAnywhere cuts a diff of every form at every byte. Between two hunks,
// and after a change of mode or a first chunk of binary data, a diff cannot
// know that more should follow; everywhere else the cut is an error.
func TestCutAnywhere(t *testing.T) {
	r := newRepo(t)
	base, head := everyForm(r)
	text := []byte(r.git(nil, "diff", "--binary", "-M", "-C", base, head, "--", "pkg"))
	whole, err := Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(text); cut++ {
		patch, err := Parse(bytes.NewReader(text[:cut]))
		if err == nil && !couldEnd(text[:cut], text[cut:]) {
			t.Fatalf("cut at byte %d: accepted with %d of %d files:\n…%s✂%.80s", cut, len(patch.Files), len(whole.Files), text[max(0, cut-200):cut], text[cut:])
		}
	}
}

func couldEnd(before, after []byte) bool {
	for _, next := range []string{"diff --git ", "@@ -", "\\ No newline", "delta ", "literal "} {
		if bytes.HasPrefix(after, []byte(next)) {
			return true
		}
	}
	last := before[bytes.LastIndexByte(before[:len(before)-1], '\n')+1:]
	return bytes.HasPrefix(last, []byte("new mode "))
}

func TestFileLimit(t *testing.T) {
	var text bytes.Buffer
	for i := range maxFiles + 1 {
		fmt.Fprintf(&text, "diff --git a/%d b/%d\nold mode 100644\nnew mode 100755\n", i, i)
	}
	if _, err := Parse(&text); err == nil || !strings.Contains(err.Error(), "limit of 50000") {
		t.Errorf("got %v", err)
	}
}
