package pytest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeTree is a tree of texts.
type fakeTree map[string]string

func (f fakeTree) ReadFile(path string) ([]byte, error) {
	content, ok := f[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (f fakeTree) Paths() []string {
	var paths []string
	for path := range f {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// interpreters are those that the tests may use; TOUCHSTONE_TEST_PYTHON lists
// others in their place.
func interpreters() []string {
	if own := os.Getenv("TOUCHSTONE_TEST_PYTHON"); own != "" {
		return filepath.SplitList(own)
	}
	return []string{"python3", "/usr/bin/python3", "python"}
}

// python returns an interpreter that has pytest and the named modules, or skips
// the test.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	candidates := interpreters()
	var said bytes.Buffer
	for _, candidate := range candidates {
		try := exec.Command(candidate, "-c", "import "+strings.Join(append([]string{"pytest"}, modules...), ", "))
		try.Stderr = &said
		if err := try.Run(); err == nil {
			return candidate
		}
	}
	last := strings.Split(strings.TrimSpace(said.String()), "\n")
	t.Skipf("none of %v has pytest and %v: %s", candidates, modules, last[len(last)-1])
	return ""
}
