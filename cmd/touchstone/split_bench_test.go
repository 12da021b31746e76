package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkSplitAgainstFilterdiff splits diffs of 25,000, 100,000 and 400,000
// lines, 20 for each file, as a whole process, in turn with what a user would take
// instead: filterdiff, once to keep what lies under tests/ and once to leave it
// out. x-filterdiff compares the three patches with those two runs together;
// x-one-part compares one patch with one: split's production part with the second
// run. None has to empty a file of the round before.
func BenchmarkSplitAgainstFilterdiff(b *testing.B) {
	if _, err := exec.LookPath("filterdiff"); err != nil {
		b.Skipf("filterdiff (Debian's patchutils) is not installed: %v", err)
	}
	dir := b.TempDir()
	binary := installed(b, dir)
	for _, files := range []int{1250, 5000, 20000} {
		diff := filepath.Join(dir, fmt.Sprintf("%d.diff", files))
		if err := os.WriteFile(diff, []byte(wideDiff(files)), 0o644); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("lines=%d", 20*files), func(b *testing.B) {
			var split, part, keep, drop time.Duration
			for b.Loop() {
				if err := os.RemoveAll(filepath.Join(dir, "parts")); err != nil {
					b.Fatal(err)
				}
				split += timed(b, dir, binary, "split", "--output-dir", "parts", diff)
				part += timed(b, dir, binary, "split", "--part", "production", diff)
				keep += timed(b, dir, "filterdiff", "-i", "*/tests/*", diff)
				drop += timed(b, dir, "filterdiff", "-x", "*/tests/*", diff)
			}
			b.ReportMetric(split.Seconds()*1000/float64(b.N), "split-ms")
			b.ReportMetric(split.Seconds()/(keep+drop).Seconds(), "x-filterdiff")
			b.ReportMetric(part.Seconds()*1000/float64(b.N), "one-part-ms")
			b.ReportMetric(part.Seconds()/drop.Seconds(), "x-one-part")
		})
	}
}

// installed builds the program and copies it into a directory: the pages of what a
// linker has just written start more slowly than those of a file that was copied, as
// an installed program is.
func installed(b *testing.B, dir string) string {
	b.Helper()
	built, binary := filepath.Join(dir, "built"), filepath.Join(dir, "touchstone")
	build := exec.Command("go", "build", "-o", built, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	data, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(binary, data, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
	return binary
}

// timed runs a command whose output goes to a file.
func timed(b *testing.B, dir, name string, args ...string) time.Duration {
	b.Helper()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout = dir, out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s %q: %v", name, args, err)
	}
	return time.Since(began)
}

// wideDiff is a diff of so many files, a third of them tests, with 20 lines each,
// in the order in which git writes them.
func wideDiff(files int) string {
	var paths []string
	for i := range files {
		path := fmt.Sprintf("pkg%d/mod_%d.py", i%50, i)
		if i%3 == 0 {
			path = fmt.Sprintf("tests/pkg%d/test_%d.py", i%50, i)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var text strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&text, "diff --git a/%[1]s b/%[1]s\nindex 7898192..6178079 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -10,12 +10,13 @@ def f():\n", path)
		text.WriteString(strings.Repeat("     context = line of some usual length\n", 6))
		text.WriteString("-    old = compute(1, 2)\n-    old = compute(2, 3)\n+    new = compute(1, 2, 3)\n+    new = compute(2, 3, 4)\n+    new = compute(3, 4, 5)\n")
		text.WriteString(strings.Repeat("     context = line\n", 4))
	}
	return text.String()
}
