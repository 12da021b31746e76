package main

import (
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// TestEnvironmentIsBases: base's configuration names the variables that tests may
// see; what head's adds to the list is not let through.
func TestEnvironmentIsBases(t *testing.T) {
	t.Setenv("WANTED_BY_BASE", "1")
	t.Setenv("WANTED_BY_HEAD", "1")
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, ".github/touchstone.yml": "version: 1\nsandbox: {env: [WANTED_BY_BASE]}\n"})
	write(t, dir, map[string]string{
		"m.go": goFixed, ".github/touchstone.yml": "version: 1\nsandbox: {env: [WANTED_BY_BASE, WANTED_BY_HEAD]}\n",
		"env_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestBase(t *testing.T) {\n\tif os.Getenv(\"WANTED_BY_BASE\") != \"1\" {\n\t\tt.Fatal()\n\t}\n}\n\n" +
			"func TestHead(t *testing.T) {\n\tif os.Getenv(\"WANTED_BY_HEAD\") != \"\" {\n\t\tt.Fatal()\n\t}\n}\n",
	})
	_, r := checkJSON(t, "--repo", dir, "--base", "HEAD", "--full", "never", "--budget", "-1s")
	passed := 0
	for _, c := range r.Checks {
		if cells := c.Cells[gate.Head]; c.Origin == gate.Added && len(cells) > 0 && cells[0].Outcome == gate.Passed {
			passed++
		}
	}
	if passed != 2 {
		t.Errorf("%d of 2 pass: %+v", passed, r.Checks)
	}
}
