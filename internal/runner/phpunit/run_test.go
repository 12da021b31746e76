package phpunit

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestConformance runs one small repository in which every situation has one
// right answer.
func TestConformance(t *testing.T) {
	plainstate.Need(t, "phpunit", "--version")
	text, err := os.ReadFile("testdata/conformance/phpunit.txtar")
	if err != nil {
		t.Fatal(err)
	}
	state := plainstate.New(t, string(text))
	r := New(Config{Timeout: 60 * time.Second})
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Run(context.Background(), state, gate.Batch{Units: units})
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(text), "\n-- ")
	plainstate.Compare(t, result, comment)
	for _, o := range result.Rows {
		if o.Row.Name == "testAsserts" && (o.Row.Line != 13 || o.Row.End != 16 || o.Observations[0].Place != (gate.Place{File: "tests/CalcTest.php", Line: 15})) {
			t.Errorf("testAsserts: %+v", o)
		}
	}
	listed, err := r.List(context.Background(), state, []string{"tests/ChildTest.php"})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, listed, "App\\ChildTest::testInherited:\nApp\\ChildTest::testOwn:\nApp\\ChildTest::testOfTrait:\n")
	some, err := r.Run(context.Background(), state, gate.Batch{Units: units, Rows: []string{`App\CalcTest::testPasses`, `App\CalcTest::testEach`}})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, some, `
App\CalcTest::testPasses: passed
App\CalcTest::testEach: failed assertion
App\CalcTest::testEach with data set "one": passed
App\CalcTest::testEach with data set "odd "x" #,ü": failed assertion
App\CalcTest::testEach with data set #0: passed
`)
	for _, unit := range units {
		if unit == "tests/BaseTest.php" {
			t.Error("an abstract class is no unit")
		}
	}
	if found := Detect(state.Tree()); len(found) != 1 || found[0] != (Candidate{".", "phpunit.xml"}) {
		t.Errorf("found %+v", found)
	}
}

// TestHang ends a test that never ends, and runs the others.
func TestHang(t *testing.T) {
	plainstate.Need(t, "phpunit", "--version")
	state := plainstate.New(t, "-- tests/ATest.php --\n<?php\nclass ATest extends PHPUnit\\Framework\\TestCase {\n  function testHangs() { while (true) { usleep(1000); } }\n  function testStands() { $this->assertTrue(true); }\n}\n")
	result, err := New(Config{Timeout: 6 * time.Second}).Run(context.Background(), state, gate.Batch{Units: []string{"tests/ATest.php"}})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, result, "ATest::testHangs: timed_out timeout\nATest::testStands: passed\n")
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
