package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// javascriptLanguage changes JavaScript and TypeScript sources by TypeScript's
// parser, which testdata/mutants/mutate.cjs does, and compares with the test files
// that jest or vitest themselves find for a change.
var javascriptLanguage = language{
	suffixes: []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"},
	tick:     0.0005, // frameworks print whole milliseconds
	mutants: func(t *testing.T, path string, _ []byte) []edit {
		return printedMutants(t, path, mutateJS(path))
	},
	compiles: func(dir string, files []string) bool {
		args := []string{"--check"}
		for _, file := range files {
			args = append(args, filepath.Join(dir, file))
		}
		return mutateJS(args...).Run() == nil
	},
	rivals: func(t *testing.T, dir string) map[string]rival {
		for _, tool := range []struct {
			name, program string
			args          []string
		}{
			{"jest --findRelatedTests", "node_modules/jest/bin/jest.js", []string{"--listTests", "--findRelatedTests"}},
			{"vitest --changed", "node_modules/vitest/vitest.mjs", []string{"list", "--filesOnly", "--json", "--changed"}},
		} {
			if _, err := os.Stat(filepath.Join(dir, tool.program)); err == nil {
				return map[string]rival{tool.name: relatedFiles(dir, append([]string{tool.program}, tool.args...))}
			}
		}
		return nil
	},
}

// mutateJS is a call of mutate.cjs. TypeScript is that of TOUCHSTONE_TEST_NODE_MODULES.
func mutateJS(args ...string) *exec.Cmd {
	cmd := exec.Command("node", append([]string{"testdata/mutants/mutate.cjs"}, args...)...)
	var modules []string
	for _, dir := range filepath.SplitList(os.Getenv("TOUCHSTONE_TEST_NODE_MODULES")) {
		modules = append(modules, filepath.Join(dir, "node_modules"))
	}
	cmd.Env = append(os.Environ(), "NODE_PATH="+strings.Join(modules, string(filepath.ListSeparator)))
	return cmd
}

// printedMutants reads the changes that a program prints as JSON lines.
func printedMutants(t *testing.T, path string, cmd *exec.Cmd) (found []edit) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mutating %s: %v", path, err)
	}
	for line := range strings.Lines(string(out)) {
		var e edit
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("mutating %s: %v", path, err)
		}
		found = append(found, e)
	}
	return found
}

// relatedFiles asks a framework which test files a change concerns: jest by the
// names of the files, vitest by what git says has changed. It prints their paths.
func relatedFiles(dir string, argv []string) rival {
	return func(t *testing.T, changed []string) func(rowKey) bool {
		if argv[0] == "node_modules/jest/bin/jest.js" {
			argv = append(argv[:3:3], changed...)
		}
		cmd := exec.Command("node", argv...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Logf("%s selects nothing: %v: %s", argv[0], err, lastLines(out))
		}
		return func(key rowKey) bool {
			path := filepath.Join(dir, key.unit)
			return strings.Contains(string(out), path+"\n") || strings.Contains(string(out), `"`+path+`"`)
		}
	}
}
