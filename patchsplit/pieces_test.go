package patchsplit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// piecesAgree cuts a diff into pieces of any number and holds what they read
// against a reading from start to end. It returns how many cuts were read.
func piecesAgree(t *testing.T, text string) (read int) {
	t.Helper()
	serial, err := (&scanner{data: text, line: 1}).patch()
	for most := 2; most <= 9; most++ {
		pieces, ok := parsePieces(text, most)
		if !ok {
			continue
		}
		read++
		if err != nil {
			t.Fatalf("in %d pieces it is accepted, in one: %v\n%s", most, err, text)
		}
		if !reflect.DeepEqual(pieces, serial) {
			t.Fatalf("in %d pieces it reads as %+v, in one as %+v\n%s", most, pieces.Changes(), serial.Changes(), text)
		}
	}
	return read
}

// hostileBorders are diffs that have a line "diff --git " where no section begins,
// or whose sections lean on what stands around them.
var hostileBorders = []string{
	"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n" + created,
	"diff --git a/b b/b\nindex 7898192..6178079 100644\nGIT binary patch\nliteral 3\n" + simple + "\n" + created,
	"diff --git a/b b/b\nindex 7898192..6178079 100644\nGIT binary patch\nliteral 3\nKcmYdfU|?5t\n\n" + created + simple,
	"--- a/n\t1970-01-01 00:00:00\n+++ b/n\t1970-01-01 00:00:00\ndiff --git a/x b/x +0,0 @@\n" + hunk,
	"--- a/p\n+++ b/p\n" + hunk + simple + created,
	simple + "--- a/p\n+++ b/p\n" + hunk + created,
	simple + "--- a/p\n" + created,
	simple + "-- \n2.39\n\n" + created + "@@ not a hunk\n",
	simple + "\n - a list\n" + created,
	"From 1 Mon\nSubject: x\n\n - a\n" + simple + "-- \n2.39\n\nFrom 2 Mon\n\n - b\n" + created,
	simple + created + "diff --git a/y b/y\n",
	simple + created + "diff --git",
	simple + simple + simple,
	strings.Repeat("text\n", 40) + simple + created,
	simple + "Binary files a/b and b/b differ\n" + created,
	simple + "\\ No newline at end of file\n" + created,
}

// TestPiecesAgree reads the corpus of the fuzzers, and diffs that are made to
// mislead, in pieces and whole.
func TestPiecesAgree(t *testing.T) {
	texts := append([]string{string(bigDiff(40))}, hostileBorders...)
	for _, a := range hostileBorders {
		for _, b := range hostileBorders {
			texts = append(texts, a+strings.NewReplacer("/x", "/y", "/n", "/m").Replace(b))
		}
	}
	read := 0
	for _, text := range append(texts, fuzzInputs(t, "FuzzParse", "FuzzSplit")...) {
		read += piecesAgree(t, text)
	}
	if read < 80 {
		t.Errorf("only %d cuts were read", read)
	}
}

// fuzzInputs are the inputs of fuzzers that take one text.
func fuzzInputs(t *testing.T, fuzzers ...string) []string {
	var texts []string
	for _, name := range fuzzers {
		files, err := filepath.Glob(filepath.Join("testdata", "fuzz", name, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no corpus of %s: %v", name, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			quoted := strings.TrimSuffix(strings.TrimPrefix(string(data), "go test fuzz v1\n[]byte("), ")\n")
			text, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// TestLargeErrors damages a diff that is large enough to be read in pieces, and
// wants the error of a reading from start to end.
func TestLargeErrors(t *testing.T) {
	whole := string(bigDiff(2000))
	if _, ok := parsePieces(whole, pieceCount(len(whole), minPiece)); !ok {
		t.Fatal("it is not read in pieces")
	}
	for name, text := range map[string]string{
		"hunk cut":       whole[:len(whole)-30],
		"middle damaged": strings.Replace(whole, "@@ -10,12 +10,13 @@", "@@ -10,12 +10,14 @@", 900),
		"first of two":   strings.Replace(whole[:len(whole)-3], "mod_400.py", "../mod_400.py", 4),
		"twice":          whole + whole[:strings.Index(whole[1:], "diff --git")+1],
	} {
		_, err := (&scanner{data: text, line: 1}).patch()
		_, got := Parse(strings.NewReader(text))
		if got == nil || err != nil && got.Error() != err.Error() {
			t.Errorf("%s: got %v, want %v", name, got, err)
		}
	}
}

// TestPlacedSideBySide places so many files that they are placed in pieces, some of
// which share paths, and wants what each path is by itself.
func TestPlacedSideBySide(t *testing.T) {
	var text bytes.Buffer
	n := 0
	for line := range strings.Lines(readText(t, "testdata/paths.txt")) {
		words, _, _ := strings.Cut(line, " | ")
		_, path, ok := strings.Cut(words, " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for copies := range 3 {
			n++
			fmt.Fprintf(&text, "diff --git a/d%[1]d/%[2]s b/d%[1]d/%[2]s\nold mode 100644\nnew mode 100755\n", n*10+copies, path)
		}
	}
	for _, more := range []string{"", "diff --git a/o b/tests/n\nsimilarity index 100%\nrename from o\nrename to tests/n\n"} {
		patch, err := Parse(strings.NewReader(text.String() + more))
		if err != nil {
			t.Fatal(err)
		}
		c, alone := newClassifier(nil, nil, nil), newClassifier(nil, nil, nil)
		for i, part := range patch.Parts(c) {
			if want := alone.File(patch.Files[i].Path); part.Decision != want {
				t.Errorf("%s: %+v, by itself %+v", part.Path, part.Decision, want)
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d files", n)
	}
}

func readText(t *testing.T, name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPlainPaths holds that a path which is let through at first sight would be let
// through by all checks.
func TestPlainPaths(t *testing.T) {
	parts := []string{"", ".", "..", ".git", ".GIT", "git~1", "a", "a.", "a..", "A-b_9.c", ".github", "C:", "\\", "x\\..", " ", "\x00", "ü", ".g\u200cit", "-", "a.git", "git"}
	plain := 0
	for _, a := range parts {
		for _, b := range parts {
			for _, join := range []string{"/", "", "//", "/x/"} {
				path := a + join + b
				if !isPlain(path) {
					continue
				}
				plain++
				if err := checkOdd(path); err != nil {
					t.Errorf("%q is let through: %v", path, err)
				}
			}
		}
	}
	if plain < 100 {
		t.Errorf("only %d plain paths", plain)
	}
}

// TestReadAhead reads files that are large enough to be read in pieces: whole,
// from their middle, and one that says it is longer than it is.
func TestReadAhead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.diff")
	text := bigDiff(4000)
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{0, 1000} {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Seek(from, 0); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(file)
		if err != nil || got != string(text[from:]) {
			t.Errorf("from %d: %d of %d bytes, %v", from, len(got), len(text)-int(from), err)
		}
	}
}
