package git

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSurelyOutside holds that no place is passed over where git may find a
// repository, however it is reached.
func TestSurelyOutside(t *testing.T) {
	f := newFixture(t)
	f.write("sub/file", "1")
	bare, link := filepath.Join(t.TempDir(), "bare"), filepath.Join(t.TempDir(), "link")
	f.git("init", "-q", "--bare", bare)
	if err := os.Symlink(f.path("sub"), link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{f.dir, f.path("sub"), f.path(".git/refs"), bare, filepath.Join(bare, "objects"), link, filepath.Join(t.TempDir(), "none")} {
		if surelyOutside(dir) {
			t.Errorf("%s is passed over", dir)
		}
	}
	if dir := t.TempDir(); !surelyOutside(dir) {
		t.Errorf("git is asked about %s", dir)
	}
}
