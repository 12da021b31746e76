package gotest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/rts"
)

var tracedModule = files{
	"go.mod":                "module m.test/x\n\ngo 1.21\n",
	"money/money.go":        "package money\n\nfunc Round(x int) int { return x }\n\nfunc Split(x int) int {\n\tif x > 1 {\n\t\treturn Round(x)\n\t}\n\treturn 0\n}\n",
	"money/money_test.go":   "package money\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestRound(t *testing.T) { Round(1) }\nfunc TestSplit(t *testing.T) { Split(2) }\nfunc TestSkips(t *testing.T) { t.Skip() }\nfunc TestFails(t *testing.T) { t.Fatal() }\nfunc TestData(t *testing.T) {\n\tif _, err := os.ReadFile(\"testdata/a.json\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\nfunc TestDies(t *testing.T) { os.Exit(3) }\n",
	"money/testdata/a.json": "{}",
	"shop/shop.go":          "package shop\n\nimport (\n\t_ \"embed\"\n\t\"os/exec\"\n\n\t\"m.test/x/money\"\n)\n\n//go:embed list.txt\nvar list string\n\nfunc Price() int { return money.Split(4) + len(list) }\n\nfunc Ship() { exec.Command(\"true\").Run() }\n",
	"shop/list.txt":         "one\n",
	"shop/shop_test.go":     "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestPrice(t *testing.T) { Price() }\nfunc TestShip(t *testing.T) { Ship() }\nfunc TestLists(t *testing.T) {\n\tif _, err := os.ReadDir(\"../money\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
	"broken/b.go":           "package broken\n\nfunc F() int { return \"\" }\n",
	"broken/b_test.go":      "package broken\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { F() }\n",
}

func TestTraceSaysWhatEachTestDoes(t *testing.T) {
	s := newPlain(t, tracedModule)
	traces, err := New(Config{}).Trace(context.Background(), s, []string{"broken", "money", "shop"}, gate.Batch{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]rts.Trace)
	for _, row := range traces.Rows {
		rows[row.ID[strings.LastIndexByte(row.ID, '.')+1:]] = row
	}
	for name, want := range map[string]struct {
		executes  []string
		open      bool
		green     bool
		loads     string
		opens     string
		listsHave string
	}{
		"TestRound": {executes: []string{"money/money.go#Round"}, green: true},
		"TestSplit": {executes: []string{"money/money.go#Round", "money/money.go#Split"}, green: true},
		"TestSkips": {green: true},
		"TestFails": {},
		"TestData":  {green: true, opens: "money/testdata/a.json"},
		"TestDies":  {open: true},
		"TestPrice": {executes: []string{"money/money.go#Round", "money/money.go#Split", "shop/shop.go#Price"}, green: true, loads: "shop/list.txt"},
		"TestShip":  {executes: []string{"shop/shop.go#Ship"}, open: true, green: true, loads: "money/money.go"},
		"TestLists": {green: true, listsHave: "money"},
		"TestF":     {open: true},
	} {
		row := rows[name]
		if !slices.Equal(row.Executes, want.executes) || (row.Open != "") != want.open || row.Green != want.green {
			t.Errorf("%s: executes %q, open %q, green %v", name, row.Executes, row.Open, row.Green)
		}
		if want.loads != "" && !slices.Contains(row.Loads, want.loads) || want.opens != "" && !slices.Contains(row.Opens, want.opens) || want.listsHave != "" && !slices.Contains(row.Lists, want.listsHave) {
			t.Errorf("%s: %+v", name, row)
		}
	}
	if traces.Failed["broken"] == "" || len(traces.Failed) != 1 {
		t.Errorf("failed: %q", slices.Collect(maps.Keys(traces.Failed)))
	}
	if !slices.Contains(traces.Traced, "shop/shop.go#Ship") {
		t.Errorf("traced: %q", traces.Traced)
	}
}

func TestGraphOfPackages(t *testing.T) {
	g := &rts.Graph{}
	New(Config{}).AddGraph(g, tracedModule)
	for file, want := range map[string][]string{
		"money/money.go":      {"money", "shop"},
		"money/money_test.go": {"money"},
		"shop/list.txt":       {"shop"},
		"broken/b.go":         {"broken"},
	} {
		if got := slices.Sorted(maps.Keys(g.Reaching(file))); !slices.Equal(got, want) || !g.Knows(file) {
			t.Errorf("%s is reached by %q, want %q", file, got, want)
		}
	}
	if why := g.Doubtful()["shop"]; why != "starts processes" {
		t.Errorf("doubt about shop: %q", why)
	}
}
