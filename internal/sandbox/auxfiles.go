package sandbox

import (
	"os"
	"path/filepath"
)

// writeFiles puts auxiliary files into an empty directory.
func writeFiles(dir string, files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, content := range files {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(content), 0o755); err != nil {
			return err
		}
	}
	return nil
}
