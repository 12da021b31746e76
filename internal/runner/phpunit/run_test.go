package phpunit

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestConformance runs one small repository in which every situation has one
// right answer.
func TestConformance(t *testing.T) {
	conformance.Run(t, "testdata/conformance/phpunit.txtar", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner { return New(Config{Dir: dir, Timeout: timeout}) },
	})
}

// TestRows holds lines, places, lists and selections against the conformance
// repository.
func TestRows(t *testing.T) {
	plainstate.Need(t, "phpunit", "--version")
	repository, err := conformance.Load("testdata/conformance/phpunit.txtar")
	if err != nil {
		t.Fatal(err)
	}
	state := plainstate.At(t, plainstate.Write(t, repository.Files))
	r := New(Config{Timeout: time.Minute})
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := r.List(context.Background(), state, []string{"tests/ChildTest.php"})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, listed, "App\\ChildTest::testInherited:\nApp\\ChildTest::testOwn:\nApp\\ChildTest::testOfTrait:\n")
	some, err := r.Run(context.Background(), state, gate.Batch{Units: units, Rows: []string{`App\CalcTest::testAsserts`, `App\CalcTest::testEach`}})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, some, `
App\CalcTest::testAsserts: failed assertion
App\CalcTest::testEach: failed assertion
App\CalcTest::testEach with data set "one": passed
App\CalcTest::testEach with data set "odd "x" #,ü": failed assertion
App\CalcTest::testEach with data set #0: passed
`)
	for _, o := range some.Rows {
		if o.Row.Name == "testAsserts" && (o.Row.Line != 13 || o.Row.End != 16 || o.Observations[0].Place != (gate.Place{File: "tests/CalcTest.php", Line: 15})) {
			t.Errorf("testAsserts: %+v", o)
		}
	}
	if slices.Contains(units, "tests/BaseTest.php") {
		t.Error("an abstract class is no unit")
	}
	if found := Detect(state.Tree()); len(found) != 1 || found[0] != (Candidate{".", "phpunit.xml"}) {
		t.Errorf("found %+v", found)
	}
}

// TestLoaded tells the tree's own file from one that was loaded in its place.
func TestLoaded(t *testing.T) {
	plainstate.Need(t, "phpunit", "--version")
	state := plainstate.New(t, `
-- src/Own.php --
<?php
namespace A;
class Own {}
-- src/Taken.php --
<?php
namespace A;
class Taken {}
-- elsewhere/Taken.php --
<?php
namespace A;
class Taken {}
-- tests/ATest.php --
<?php
namespace A;
require_once __DIR__ . '/../src/Own.php';
require_once __DIR__ . '/../elsewhere/Taken.php';
class ATest extends \PHPUnit\Framework\TestCase { function testA() { $this->assertNotNull(new Taken()); } }
`)
	result, err := New(Config{}).Run(context.Background(), state, gate.Batch{Units: []string{"tests/ATest.php"}, Subjects: []string{"src/Own.php", "src/Taken.php", "src/None.php"}})
	if err != nil {
		t.Fatal(err)
	}
	if l := result.Loaded; len(l) != 2 || l[0].Subject != "src/Own.php" || !l[0].InTree || l[1].Subject != "src/Taken.php" || l[1].InTree || len(l[1].SHA256) != 64 {
		t.Errorf("loaded %+v", l)
	}
}
