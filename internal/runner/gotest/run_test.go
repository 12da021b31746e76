package gotest

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

const mod = "module m.test/x\n\ngo 1.21\n"

// specimen is one package and what is to be observed of it. Ids are relative to
// the package.
type specimen struct {
	files files
	rows  map[string]string
	unit  string // "outcome reason" of the unit's failure
	check func(t *testing.T, result gate.Result)
}

// zoo holds packages that end in every way a test binary can end. They are run
// together, since what one does must not touch another.
var zoo = map[string]specimen{
	"ordinary": {
		files: files{"a_test.go": `package p
import ("fmt"; "testing")
func TestPass(t *testing.T) { t.Log("fine") }
func TestFail(t *testing.T) { t.Errorf("want 1,\ngot \x1b[31m2") }
func TestSkip(t *testing.T) { t.Skip("needs the tool frobnicate") }
func TestParts(t *testing.T) {
	for _, name := range []string{"a b", "x/y"} {
		name := name
		t.Run(name, func(t *testing.T) { t.Parallel(); if name == "x/y" { t.Fatal("no") } })
	}
}
func ExampleRight() { fmt.Println("a")
// Output: a
}
func ExampleWrong() { fmt.Println("a")
// Output: b
}
func ExampleUnchecked() { fmt.Println("a") }
func FuzzA(f *testing.F) { f.Add("x"); f.Add("y"); f.Fuzz(func(t *testing.T, s string) { if s == "y" { t.Error("bad") } }) }
func BenchmarkA(b *testing.B) {}
func Testify(t *testing.T) {}
func TestMain(m *testing.M) { m.Run() }
`},
		rows: map[string]string{
			"TestPass": "passed", "TestFail": "failed assertion", "TestSkip": "skipped",
			"TestParts": "failed assertion", "TestParts/a_b": "passed", "TestParts/x/y": "failed assertion",
			"ExampleRight": "passed", "ExampleWrong": "failed assertion",
			"FuzzA": "failed assertion", "FuzzA/seed#0": "passed", "FuzzA/seed#1": "failed assertion",
		},
		check: func(t *testing.T, result gate.Result) {
			o := observation(result, "m.test/x/ordinary.TestFail")
			if o.Message != "want 1, got 2" || o.Place != (gate.Place{File: "ordinary/a_test.go", Line: 4}) {
				t.Errorf("TestFail: %+v", o)
			}
			if o := observation(result, "m.test/x/ordinary.TestParts"); o.Message != "subtest x/y failed" {
				t.Errorf("TestParts: %+v", o)
			}
			if o := observation(result, "m.test/x/ordinary.TestSkip"); !strings.Contains(o.Message, "frobnicate") {
				t.Errorf("TestSkip: %+v", o)
			}
			for _, observed := range result.Rows {
				if row := observed.Row; row.ID == "m.test/x/ordinary.TestParts/x/y" && (row.Parent != "m.test/x/ordinary.TestParts" || row.Name != "x/y" || row.Line != 6 || row.Digest == "") {
					t.Errorf("%+v", row)
				}
			}
		},
	},
	"panics": {
		files: files{
			"p.go": "package p\nfunc Deref(p *int) int {\n\treturn *p\n}\n",
			"a_test.go": `package p
import "testing"
func TestParallel(t *testing.T) { t.Parallel() }
func TestBefore(t *testing.T) {}
func TestTable(t *testing.T) {
	for _, name := range []string{"good", "bad", "also", "worse", "last"} {
		t.Run(name, func(t *testing.T) { if name == "bad" || name == "worse" { Deref(nil) } })
	}
}
func TestSelf(t *testing.T) { panic("on\nits own") }
func TestAfter(t *testing.T) { t.Error("an honest failure") }
`},
		rows: map[string]string{
			"TestParallel": "passed", "TestBefore": "passed", "TestAfter": "failed assertion", "TestSelf": "failed exception",
			"TestTable": "failed exception", "TestTable/good": "passed", "TestTable/bad": "failed exception", "TestTable/also": "passed",
			"TestTable/worse": "failed exception", "TestTable/last": "passed",
		},
		check: func(t *testing.T, result gate.Result) {
			o := observation(result, "m.test/x/panics.TestTable/bad")
			if o.Place != (gate.Place{File: "panics/p.go", Line: 3}) || !strings.HasPrefix(o.Message, "panic: runtime error: invalid memory address") {
				t.Errorf("%+v", o)
			}
		},
	},
	"goroutine": {
		files: files{"a_test.go": `package p
import ("testing"; "time")
func TestGo(t *testing.T) { go func() { panic("elsewhere") }(); time.Sleep(5 * time.Second) }
func TestAfter(t *testing.T) {}
`},
		rows: map[string]string{"TestGo": "failed exception", "TestAfter": "passed"},
	},
	"exits": {
		files: files{"a_test.go": `package p
import ("os"; "testing")
func TestBefore(t *testing.T) {}
func TestExit(t *testing.T) { t.Run("part", func(t *testing.T) { os.Exit(3) }) }
func TestAfter(t *testing.T) {}
`},
		rows: map[string]string{"TestBefore": "passed", "TestExit": "crashed crash", "TestExit/part": "crashed crash", "TestAfter": "passed"},
	},
	"killed": {
		files: files{"a_test.go": `package p
import ("syscall"; "testing")
func TestKill(t *testing.T) { syscall.Kill(syscall.Getpid(), syscall.SIGKILL); select {} }
func TestAfter(t *testing.T) {}
`},
		rows: map[string]string{"TestKill": "crashed crash", "TestAfter": "passed"},
	},
	"overflow": {
		files: files{"a_test.go": "package p\nimport (\"runtime/debug\"; \"testing\")\nfunc TestOverflow(t *testing.T) { debug.SetMaxStack(1 << 20); var f func(int) int; f = func(n int) int { return f(n+1) + 1 }; f(0) }\nfunc TestAfter(t *testing.T) {}\n"},
		rows:  map[string]string{"TestOverflow": "crashed crash", "TestAfter": "passed"},
	},
	"endless": {
		files: files{"a_test.go": `package p
import ("fmt"; "testing"; "time")
func TestEndless(t *testing.T) { t.Run("q w", func(t *testing.T) { fmt.Print("no newline"); time.Sleep(time.Hour) }) }
func TestAfter(t *testing.T) {}
`},
		rows: map[string]string{"TestEndless": "timed_out timeout", "TestEndless/q_w": "timed_out timeout", "TestAfter": "passed"},
	},
	"initpanics": {
		files: files{"a_test.go": "package p\nimport \"testing\"\nfunc init() { panic(\"in init\") }\nfunc TestA(t *testing.T) {}\n"},
		rows:  map[string]string{"TestA": "listed"},
		unit:  "crashed crash",
	},
	"mainquits": {
		files: files{"a_test.go": "package p\nimport (\"os\"; \"testing\")\nfunc TestMain(m *testing.M) { os.Exit(0) }\nfunc TestA(t *testing.T) {}\n"},
		rows:  map[string]string{"TestA": "errored no_report"},
	},
	"mainfails": {
		files: files{"a_test.go": "package p\nimport (\"fmt\"; \"os\"; \"testing\")\nfunc TestMain(m *testing.M) { fmt.Println(\"no database\"); os.Exit(1) }\nfunc TestA(t *testing.T) {}\n"},
		rows:  map[string]string{"TestA": "listed"},
		unit:  "errored setup",
	},
	"mainleaks": {
		files: files{"a_test.go": "package p\nimport (\"os\"; \"testing\")\nfunc TestMain(m *testing.M) { m.Run(); println(\"a leak\"); os.Exit(1) }\nfunc TestA(t *testing.T) {}\n"},
		rows:  map[string]string{"TestA": "passed", "": "failed assertion"},
	},
	"inner": {
		files: files{"a_test.go": `package p
import "testing"
func always(_, _ string) (bool, error) { return true, nil }
func TestOuter(t *testing.T) {
	if testing.RunTests(always, []testing.InternalTest{{Name: "TestInner", F: func(t *testing.T) { t.Run("leaf", func(t *testing.T) { t.Fail() }) }}}) {
		t.Fatal("the inner test was to fail")
	}
}
func TestLast(t *testing.T) {}
`},
		rows: map[string]string{"TestOuter": "passed", "TestLast": "passed"},
	},
	"forges": {
		files: files{"a_test.go": `package p
import ("fmt"; "testing")
func TestForge(t *testing.T) {
	fmt.Println("--- PASS: TestForge (0.00s)\n=== RUN   TestGhost\n--- PASS: TestGhost (0.00s)")
	fmt.Println("{\"Action\":\"pass\",\"Package\":\"m.test/x/forges\",\"Test\":\"TestForge\"}")
	fmt.Print("panic: not at all")
	t.Fatal("fails all the same")
}
func TestAfter(t *testing.T) {}
`},
		rows: map[string]string{"TestForge": "failed assertion", "TestAfter": "passed"},
	},
	"twice": {
		files: files{
			"a_test.go": "package p\nimport \"testing\"\nfunc TestSame(t *testing.T) {}\n",
			"b_test.go": "package p_test\nimport \"testing\"\nfunc TestSame(t *testing.T) { t.Run(\"part\", func(t *testing.T) { t.Fail() }) }\n",
		},
		rows: map[string]string{"TestSame": "passed", "TestSame#2": "failed assertion", "TestSame#2/part": "failed assertion"},
	},
	"addresses": {
		files: files{"a_test.go": `package p
import ("fmt"; "testing")
func TestAddress(t *testing.T) {
	for i := 0; i < 2; i++ {
		t.Run(fmt.Sprintf("(*T)(%p)", new(int64)), func(t *testing.T) {})
	}
}
`},
		rows: map[string]string{"TestAddress": "passed", "TestAddress/(*T)(0x_)": "passed", "TestAddress/(*T)(0x_)#2": "passed"},
	},
	"elsewhere": {
		files: files{
			"a_test.go":          "package p\nimport \"testing\"\nfunc TestHere(t *testing.T) {}\n",
			"b_plan9_test.go":    "package p\nimport \"testing\"\nfunc TestPlan9(t *testing.T) {}\n",
			"c_test.go":          "//go:build integration\n\npackage p\nimport \"testing\"\nfunc TestTagged(t *testing.T) {}\n",
			"_d_test.go":         "package p\nimport \"testing\"\nfunc TestHidden(t *testing.T) {}\n",
			"testdata/e_test.go": "package p\nimport \"testing\"\nfunc TestData(t *testing.T) {}\n",
		},
		rows: map[string]string{"TestHere": "passed"},
	},
	"newsymbol": {
		files: files{
			"p.go": "package p\ntype T struct{ Old int }\nfunc Half(n int) int { return n / 2 }\n",
			"a_test.go": `package p
import (
	"strings"
	"testing"
)
var table = []T{{New: 1}}
func helper() string { return strings.ToUpper(Added()) }
func TestDirect(t *testing.T) { Added() }
func TestByHelper(t *testing.T) { helper() }
func TestByTable(t *testing.T) { _ = table }
func TestSignature(t *testing.T) { Half(1, 2) }
func TestField(t *testing.T) { var x T; x.Method() }
func TestRest(t *testing.T) { t.Error("runs") }
func TestPanics(t *testing.T) { var p *T; p.Old++ }
`,
			"b_test.go": "package p\nimport \"testing\"\nfunc TestOtherFile(t *testing.T) {}\n",
			"c_test.go": "package p_test\nimport (\n\t\"m.test/x/newsymbol\"\n\t\"testing\"\n)\nfunc TestExternal(t *testing.T) { p.Added() }\nfunc TestExternalToo(t *testing.T) { p.Half(2) }\n",
		},
		rows: map[string]string{
			"TestDirect": "errored compile", "TestByHelper": "errored compile", "TestByTable": "errored compile", "TestSignature": "errored compile",
			"TestField": "errored compile", "TestRest": "failed assertion", "TestPanics": "failed exception", "TestOtherFile": "passed",
			"TestExternal": "errored compile", "TestExternalToo": "passed",
		},
		check: func(t *testing.T, result gate.Result) {
			for test, want := range map[string]gate.Missing{
				"TestDirect": {Name: "Added"}, "TestByHelper": {Name: "Added"}, "TestByTable": {Name: "New", Owner: "T"},
				"TestSignature": {Name: "Half", Signature: true}, "TestField": {Name: "Method", Owner: "T"}, "TestExternal": {Name: "Added", Owner: "p"},
			} {
				if o := observation(result, "m.test/x/newsymbol."+test); len(o.Missing) == 0 || o.Missing[0] != want {
					t.Errorf("%s misses %+v, want %+v first", test, o.Missing, want)
				}
			}
			if o := observation(result, "m.test/x/newsymbol.TestRest"); o.Place != (gate.Place{File: "newsymbol/a_test.go", Line: 13}) {
				t.Errorf("a test beside what was left out stands at %+v", o.Place)
			}
			if o := observation(result, "m.test/x/newsymbol.TestPanics"); o.Place != (gate.Place{File: "newsymbol/a_test.go", Line: 14}) {
				t.Errorf("a panic beside what was left out stands at %+v", o.Place)
			}
		},
	},
	"manyerrors": {
		files: files{"a_test.go": "package p\nimport \"testing\"\n" + strings.Repeat("var _ = nowhere()\n", 15) + "func TestA(t *testing.T) { nothing() }\nfunc TestB(t *testing.T) {}\n"},
		rows:  map[string]string{"TestA": "errored compile", "TestB": "passed"},
	},
	"syntax": {
		files: files{
			"a_test.go": "package p\nimport \"testing\"\nfunc TestGood(t *testing.T) {}\n",
			"b_test.go": "package p\nimport \"testing\"\nfunc TestReadable(t *testing.T) {}\nfunc TestBroken(t *testing.T) { x := \n}\n",
		},
		rows: map[string]string{"TestGood": "passed", "TestReadable": "errored compile", "TestBroken": "errored compile"},
		unit: "errored compile",
	},
	"noimport": {
		files: files{
			"a_test.go": "package p\nimport \"testing\"\nfunc TestGood(t *testing.T) {}\n",
			"b_test.go": "package p\nimport (\n\t\"testing\"\n\t\"m.test/x/nope\"\n\tsuch \"m.test/other/such.v2\"\n)\nfunc TestUses(t *testing.T) { nope.F() }\nfunc TestUsesOther(t *testing.T) { such.F() }\nfunc TestUsesNone(t *testing.T) {}\n",
		},
		rows: map[string]string{"TestGood": "passed", "TestUses": "errored import", "TestUsesOther": "errored import", "TestUsesNone": "passed"},
		check: func(t *testing.T, result gate.Result) {
			if o := observation(result, "m.test/x/noimport.TestUses"); len(o.Missing) != 1 || o.Missing[0].Name != "m.test/x/nope" {
				t.Errorf("%+v", o)
			}
		},
	},
	"noembed": {
		files: files{"a_test.go": "package p\nimport (\n\t_ \"embed\"\n\t\"testing\"\n)\n\n//go:embed golden/*.txt\nvar golden string\n\nfunc TestGolden(t *testing.T) { _ = golden }\nfunc TestOther(t *testing.T) {}\n"},
		rows:  map[string]string{"TestGolden": "errored compile", "TestOther": "passed"},
	},
	"mainbroken": {
		files: files{"a_test.go": "package p\nimport \"testing\"\nfunc TestMain(m *testing.M) { setUp(); m.Run() }\nfunc TestA(t *testing.T) {}\n"},
		rows:  map[string]string{"TestA": "listed"},
		unit:  "errored compile",
	},
	"production": {
		files: files{"p.go": "package p\nfunc F() { gone() }\n", "a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) { F() }\n"},
		rows:  map[string]string{"TestA": "listed"},
		unit:  "errored compile",
		check: func(t *testing.T, result gate.Result) {
			for _, u := range result.Units {
				if u.Unit == "production" && (u.Observation.Place != (gate.Place{File: "production/p.go", Line: 2}) || u.Observation.Missing[0] != gate.Missing{Name: "gone", FromProduction: true}) {
					t.Errorf("%+v", u)
				}
			}
		},
	},
	"notests": {files: files{"a_test.go": "package p\n"}},
}

func TestZoo(t *testing.T) {
	tree := files{"go.mod": mod}
	want := make(map[string]string)
	for dir, s := range zoo {
		for name, text := range s.files {
			tree[dir+"/"+name] = text
		}
		for id, outcome := range s.rows {
			want[strings.TrimSuffix("m.test/x/"+dir+"."+id, ".")] = outcome
		}
	}
	state := newPlain(t, tree)
	result := run(t, New(Config{Timeout: 4 * time.Second}), state, gate.Batch{Units: slices.Sorted(maps.Keys(zoo))})
	expect(t, said(result), want)
	units := make(map[string]string)
	for _, u := range result.Units {
		units[u.Unit] = u.Observation.Outcome.String() + " " + string(u.Observation.Reason)
		if u.Observation.Message == "" {
			t.Errorf("%s fails without a word", u.Unit)
		}
	}
	for dir, s := range zoo {
		if units[dir] != s.unit {
			t.Errorf("unit %s: %q, want %q", dir, units[dir], s.unit)
		}
		if s.check != nil {
			s.check(t, result)
		}
	}
	if t.Failed() {
		for _, argv := range result.Commands {
			t.Log(strings.Join(argv, " "))
		}
	}
}

func TestRunOnlyTheRowsAskedFor(t *testing.T) {
	one := "package p\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Run(\"x y\", func(t *testing.T) {}); t.Run(\"z\", func(t *testing.T) {}) }\nfunc TestB(t *testing.T) {}\n"
	two := "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\nfunc TestC(t *testing.T) {}\n"
	tree := files{"go.mod": mod, "one/a_test.go": one, "two/a_test.go": two}
	for _, c := range []struct {
		name     string
		rows     []string
		want     map[string]string
		commands []string
	}{
		{"one package of two", []string{"m.test/x/one.TestA"},
			map[string]string{"m.test/x/one.TestA": "passed", "m.test/x/one.TestA/x_y": "passed", "m.test/x/one.TestA/z": "passed"},
			[]string{"go test -run ^(TestA)$ ./one"}},
		{"a part alone", []string{"m.test/x/one.TestA/x_y"}, map[string]string{"m.test/x/one.TestA/x_y": "passed"}, []string{"go test -run ^TestA$/^x_y$ ./one"}},
		{"one pattern for distinct names", []string{"m.test/x/one.TestB", "m.test/x/two.TestC"},
			map[string]string{"m.test/x/one.TestB": "passed", "m.test/x/two.TestC": "passed"}, []string{"go test -run ^(TestB|TestC)$ ./one ./two"}},
		{"two patterns where one would run too much", []string{"m.test/x/one.TestB", "m.test/x/two.TestA"},
			map[string]string{"m.test/x/one.TestB": "passed", "m.test/x/two.TestA": "passed"}, []string{"go test -run ^(TestB)$ ./one", "go test -run ^(TestA)$ ./two"}},
		{"what is not there", []string{"m.test/x/one.TestGone"}, map[string]string{}, []string{"go test -run ^(TestGone)$ ./one"}},
		{"of no package", []string{"elsewhere.TestA"}, map[string]string{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := run(t, New(Config{}), newPlain(t, tree), gate.Batch{Units: []string{"one", "two", "gone"}, Rows: c.rows})
			expect(t, said(result), c.want)
			var commands []string
			for _, argv := range result.Commands {
				commands = append(commands, strings.Join(argv, " "))
			}
			if !slices.Equal(commands, c.commands) {
				t.Errorf("ran %q, want %q", commands, c.commands)
			}
		})
	}
}

func TestNoUnitRunsNothing(t *testing.T) {
	state := newPlain(t, files{"go.mod": mod, "a_test.go": "package p\n"})
	result := run(t, New(Config{}), state, gate.Batch{Units: []string{"gone"}})
	if state.runs != 0 || len(result.Rows)+len(result.Units) > 0 {
		t.Errorf("%d runs, %+v", state.runs, result)
	}
}

func TestASecondRunKnowsWhatToLeaveOut(t *testing.T) {
	state := newPlain(t, files{"go.mod": mod, "a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) { New() }\nfunc TestB(t *testing.T) {}\n"})
	r := New(Config{})
	run(t, r, state, gate.Batch{Units: []string{"."}})
	first := state.runs
	result := run(t, r, state, gate.Batch{Units: []string{"."}})
	if first != 2 || state.runs != 3 {
		t.Errorf("%d runs, then %d", first, state.runs-first)
	}
	expect(t, said(result), map[string]string{"m.test/x.TestA": "errored compile", "m.test/x.TestB": "passed"})
	if err := os.WriteFile(state.Dir()+"/a_test.go", []byte("package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect(t, said(run(t, r, state, gate.Batch{Units: []string{"."}})), map[string]string{"m.test/x.TestA": "passed"})
}

func TestFlagsReachListAndRun(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc in PATH: the race detector cannot be linked")
	}
	tree := files{
		"go.mod":    mod,
		"a_test.go": "//go:build special && race\n\npackage p\nimport \"testing\"\nfunc TestRace(t *testing.T) { n := 0; done := make(chan bool); go func() { n++; close(done) }(); n++; <-done }\n",
		"b_test.go": "//go:build !special\n\npackage p\nimport \"testing\"\nfunc TestPlain(t *testing.T) {}\n",
	}
	r := New(Config{Command: []string{"go", "test", "-race", "-tags", "special"}, Env: map[string]string{"CGO_ENABLED": "1"}})
	state := newPlain(t, tree)
	listed, err := r.List(t.Context(), state, []string{"."})
	if err != nil || len(listed.Rows) != 1 || listed.Rows[0].Row.ID != "m.test/x.TestRace" {
		t.Fatalf("%+v, %v", listed, err)
	}
	result := run(t, r, state, gate.Batch{Units: []string{"."}})
	expect(t, said(result), map[string]string{"m.test/x.TestRace": "failed assertion"})
	if got := strings.Join(result.Commands[0], " "); got != "go test -race -tags special ." {
		t.Errorf("ran %q", got)
	}
}

func TestWhatTheCommandLeavesOutIsDeselected(t *testing.T) {
	state := newPlain(t, files{"go.mod": mod, "a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\n"})
	result := run(t, New(Config{Command: []string{"go", "test", "-skip=TestB"}}), state, gate.Batch{Units: []string{"."}})
	expect(t, said(result), map[string]string{"m.test/x.TestA": "passed", "m.test/x.TestB": "not_run deselected"})
}

func TestWhatTheGoCommandLeavesOutIsNoRow(t *testing.T) {
	state := newPlain(t, files{
		"go.mod":    mod,
		"a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n",
		"b_test.go": "//go:build cgo\n\npackage p\nimport \"testing\"\nfunc TestCgo(t *testing.T) {}\n",
	})
	r := New(Config{Env: map[string]string{"CGO_ENABLED": "0"}})
	r.settings.cgo = true // as on a machine that turns out to have no C compiler
	expect(t, said(run(t, r, state, gate.Batch{Units: []string{"."}})), map[string]string{"m.test/x.TestA": "passed"})
}

func TestMissingGo(t *testing.T) {
	state := newPlain(t, files{"go.mod": mod, "p.go": "package p\n", "a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"})
	for _, batch := range []gate.Batch{{Units: []string{"."}}, {Units: []string{"."}, Subjects: []string{"p.go"}}} {
		_, err := New(Config{Command: []string{"go1.999", "test"}}).Run(t.Context(), state, batch)
		var missing *MissingToolError
		if !errors.As(err, &missing) || missing.Tool != "go1.999" {
			t.Errorf("%v", err)
		}
	}
}

func TestACancelledRunIsAnError(t *testing.T) {
	state := newPlain(t, files{"go.mod": mod, "a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Config{}).Run(ctx, state, gate.Batch{Units: []string{"."}}); err == nil {
		t.Error("no error")
	}
}

func TestAGoCommandThatCannotStart(t *testing.T) {
	test := "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"
	for name, c := range map[string]struct {
		mod  string
		want string
	}{
		"a go.mod that does not parse": {"modul x\n", "errored setup"},
		"a toolchain that is not here": {"module m.test/x\n\ngo 1.999\n", "errored setup"},
	} {
		state := newPlain(t, files{"go.mod": c.mod, "a_test.go": test})
		result := run(t, New(Config{}), state, gate.Batch{Units: []string{"."}})
		if len(result.Units) != 1 || result.Units[0].Observation.Outcome.String()+" "+string(result.Units[0].Observation.Reason) != c.want {
			t.Errorf("%s: %+v", name, result.Units)
		}
	}
}

// TestOneMoreBuildIsolates takes out what does not compile and all that uses it at
// once: a type with its method, what is made of it, in another file too. A local
// name that is spelled the same, and a field, are something else.
func TestOneMoreBuildIsolates(t *testing.T) {
	state := newPlain(t, files{
		"go.mod": mod, "p.go": "package p\nfunc Half(n int) int { return n / 2 }\n",
		"a_test.go": `package p
import "testing"
type spec struct { options []Option }
func (s spec) run(t *testing.T) {}
var specs = map[string]spec{"a": {}}
func all() []spec { return nil }
func TestOption(t *testing.T) { spec{}.run(t) }
func TestAll(t *testing.T) { for _, s := range all() { s.run(t) } }
func TestShadow(t *testing.T) { specs := []int{1}; for _, spec := range specs { _ = spec } }
func TestField(t *testing.T) { v := struct{ spec int }{spec: 1}; _ = v.spec }
`,
		"b_test.go": "package p\nimport \"testing\"\nfunc TestOther(t *testing.T) { _ = specs }\nfunc TestRest(t *testing.T) { Half(2) }\n",
	})
	result := run(t, New(Config{}), state, gate.Batch{Units: []string{"."}})
	expect(t, said(result), map[string]string{
		"m.test/x.TestOption": "errored compile", "m.test/x.TestAll": "errored compile", "m.test/x.TestOther": "errored compile",
		"m.test/x.TestShadow": "passed", "m.test/x.TestField": "passed", "m.test/x.TestRest": "passed",
	})
	for _, test := range []string{"TestOption", "TestAll", "TestOther"} {
		if o := observation(result, "m.test/x."+test); len(o.Missing) == 0 || o.Missing[0].Name != "Option" {
			t.Errorf("%s misses %+v, want Option", test, o.Missing)
		}
	}
	if state.runs != 2 {
		t.Errorf("%d builds, want 2", state.runs)
	}
}
