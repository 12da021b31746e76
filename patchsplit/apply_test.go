package patchsplit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// everyForm makes two commits whose difference holds every form of change that
// git can write, in production, test and neutral files.
func everyForm(r repo) (base, head string) {
	noise := func(seed uint64, n int) string {
		random, data := rand.New(rand.NewPCG(seed, 1)), make([]byte, n)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		return string(data)
	}
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for _, dir := range []string{"pkg", "tests", "docs"} {
		for _, name := range []string{"mod", "moved", "copied", "mode", "gone", "crlf", "tail", "type"} {
			r.write(dir+"/"+name+".py", dir+name+"\n"+text.String())
		}
		for _, name := range []string{"with blank.py", "tab\there.py", "quote\".py", "ünï.py", "back\\slash\\.py", "-dash.py", "new\nline.py"} {
			r.write(dir+"/"+name, "a\nb\n"+name+"\n")
		}
		r.write(dir+"/blob.bin", noise(1, 5000))
		r.write(dir+"/goneblob.bin", noise(2, 300))
		r.write(dir+"/empty-gone", "")
		r.write(dir+"/crlf.py", "a\r\nb\r\n\r\nc\r\n")
		r.write(dir+"/tail.py", "a\nb")
		os.Symlink("mod.py", filepath.Join(r.dir, dir, "link"))
	}
	base = r.commit()
	for _, dir := range []string{"pkg", "tests", "docs"} {
		r.write(dir+"/mod.py", "first\n"+strings.Replace(text.String(), "line 30\n", "-- line\n++ line\n", 1)+"last\n")
		os.Rename(filepath.Join(r.dir, dir, "moved.py"), filepath.Join(r.dir, dir, "a b moved.py"))
		r.write(dir+"/copy.py", dir+"copied\n"+text.String()+"more\n")
		r.write(dir+"/copied.py", dir+"copied\n"+text.String()+"other\n")
		os.Chmod(filepath.Join(r.dir, dir, "mode.py"), 0o755)
		for _, gone := range []string{"gone.py", "goneblob.bin", "empty-gone", "type.py", "link"} {
			os.Remove(filepath.Join(r.dir, dir, gone))
		}
		os.Symlink("elsewhere", filepath.Join(r.dir, dir, "link"))
		os.Symlink("mod.py", filepath.Join(r.dir, dir, "type.py"))
		r.write(dir+"/crlf.py", "a\r\nB\r\n\r\nc\r\n")
		r.write(dir+"/tail.py", "a\nb\nc")
		r.write(dir+"/empty-new", "")
		r.write(dir+"/blob.bin", noise(1, 5000)+"tail")
		r.write(dir+"/newblob.bin", noise(3, 900))
		for _, name := range []string{"with blank.py", "tab\there.py", "quote\".py", "ünï.py", "back\\slash\\.py", "-dash.py", "new\nline.py"} {
			r.write(dir+"/"+name, "a\nB\n"+name+"\n")
		}
	}
	r.git(nil, "add", "-A")
	for _, dir := range []string{"pkg", "tests", "docs"} {
		r.git(nil, "update-index", "--add", "--cacheinfo", "160000,"+base+","+dir+"/module")
	}
	return base, r.commitStaged()
}

// TestPartsEqualWhole is the law of splitting, checked by git: the parts of a
// diff, applied in any order, give what the whole gives.
func TestPartsEqualWhole(t *testing.T) {
	r := newRepo(t)
	base, head := everyForm(r)
	want := strings.TrimSpace(r.git(nil, "rev-parse", head+"^{tree}"))
	forms := [][]string{
		{"--binary"},
		{"--binary", "--full-index", "-M", "-C"},
		{"--binary", "-M", "-C", "--find-copies-harder", "-U0"},
		{"--binary", "-M", "-U10", "--function-context"},
		{"--binary", "--no-renames", "--src-prefix=i/", "--dst-prefix=w/"},
		{"--binary", "-M10%", "--patience", "--inter-hunk-context=30"},
	}
	for i, form := range forms {
		quoting := []string{"true", "false"}[i%2]
		t.Run(strings.Join(form, " "), func(t *testing.T) {
			text := []byte(r.git(nil, append(append([]string{"-c", "core.quotePath=" + quoting, "diff"}, form...), base, head)...))
			patch, err := Parse(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(patch.Bytes(), text) {
				t.Fatal("printing does not give back what was parsed")
			}
			parts := partsOf(t, patch)
			for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
				if got := r.apply(base, parts[order[0]], parts[order[1]], parts[order[2]]); got != want {
					t.Errorf("order %v gives tree %s, the whole gives %s", order, got, want)
				}
			}
		})
	}
}

func partsOf(t *testing.T, patch *Patch) [3][]byte {
	production, test, neutral := patch.Split(classifier(t, Rules{Neutral: []string{"docs/**"}, Test: []string{"tests/**"}, Production: []string{"pkg/**"}}, nil, nil))
	if n := len(production.Files) + len(test.Files) + len(neutral.Files); n != len(patch.Files) {
		t.Errorf("the parts have %d files, the patch %d", n, len(patch.Files))
	}
	for _, part := range []*Patch{production, test, neutral} {
		again, err := Parse(bytes.NewReader(part.Bytes()))
		if err != nil {
			t.Errorf("a part is no patch: %v", err)
		} else if len(again.Files) != len(part.Files) {
			t.Errorf("a part of %d files reads as %d", len(part.Files), len(again.Files))
		}
	}
	return [3][]byte{production.Bytes(), test.Bytes(), neutral.Bytes()}
}

// TestNamesAsGitSays compares the names and statuses with git's own list.
func TestNamesAsGitSays(t *testing.T) {
	r := newRepo(t)
	base, head := everyForm(r)
	patch, err := Parse(strings.NewReader(r.git(nil, "diff", "--binary", "-M", "-C", base, head)))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]bool)
	for _, f := range patch.Files {
		got[f.Status.String()[:1]+"\x00"+f.OldPath+"\x00"+f.Path] = true
	}
	fields := strings.Split(strings.TrimSuffix(r.git(nil, "diff", "--name-status", "-z", "-M", "-C", base, head), "\x00"), "\x00")
	for i := 0; i < len(fields); {
		status, old, path := strings.ToLower(fields[i][:1]), "", fields[i+1]
		i += 2
		if status == "r" || status == "c" {
			old, path = path, fields[i]
			i++
		}
		if status == "t" { // written as a deletion and an addition
			if !got["d\x00\x00"+path] {
				t.Errorf("no deletion of %q", path)
			}
			status = "a"
		}
		if !got[status+"\x00"+old+"\x00"+path] {
			t.Errorf("no change %s %q -> %q", status, old, path)
		}
	}
}

// TestSharedPathsStayTogether swaps two names over a part's border: either half
// alone could not be applied.
func TestSharedPathsStayTogether(t *testing.T) {
	r := newRepo(t)
	body, other := strings.Repeat("the same line of text\n", 40), strings.Repeat("another line, quite unlike\n", 40)
	r.write("pkg/a.py", "A\n"+body)
	r.write("tests/b.py", "B\n"+other)
	base := r.commit()
	r.write("tests/b.py", "A\n"+body)
	r.write("pkg/a.py", "B\n"+other)
	head := r.commit()
	text := r.git(nil, "diff", "-M", "-B", base, head)
	patch, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if patch.Files[0].Status != Renamed {
		t.Fatalf("git does not write the swap as renames:\n%s", text)
	}
	want := strings.TrimSpace(r.git(nil, "rev-parse", head+"^{tree}"))
	parts := partsOf(t, patch)
	if got := r.apply(base, parts[1], parts[0], parts[2]); got != want {
		t.Errorf("the parts give tree %s, the whole gives %s", got, want)
	}
}
