package tells

import (
	"os"
	"strings"
	"testing"
)

// examples hold, for each rule, what it must speak of and what looks like it and
// is none of its business.
var examples = []struct {
	rule, file string
	yes, no    []string
}{
	{"added-skip", "test_a.py", []string{"@pytest.mark.skip(reason='later')", "@pytest.mark.xfail", "    pytest.skip('no')", "@unittest.skipIf(True, '')", "        self.skipTest('x')"},
		[]string{"skip = 1", "@pytest.mark.parametrize('skip', [1])", "    reader.skip(4)", "# @pytest.mark.skip"}},
	{"added-skip", "a_test.go", []string{"\tt.Skip(\"later\")", "\tt.Skipf(\"on %s\", os)"}, []string{"\tr.Skip(4)", "// t.Skip()"}},
	{"added-skip", "a.test.ts", []string{"it.skip('x', () => {})", "  xit('x')", "test.todo('x')"}, []string{"list.skip(4)", "exit(1)"}},
	{"added-skip", "a.rs", []string{"    #[ignore]"}, []string{"    // ignored"}},
	{"focus-mark", "a.test.js", []string{"it.only('x', f)", "  fdescribe('x', f)"}, []string{"onlyOnce()", "profit(1)"}},
	{"swallowed-assertion", "test_a.py", []string{"    except AssertionError:", "try:\n    assert f()\nexcept Exception:\n    pass", "with suppress(AssertionError):"},
		[]string{"try:\n    f()\nexcept ValueError:\n    pass", "with pytest.raises(AssertionError):", "try:\n    assert f()\nfinally:\n    g()"}},
	{"swallowed-assertion", "a.test.js", []string{"try { expect(f()).toBe(1) } catch (e) {}"}, []string{"try { f() } catch (e) {}", "try { expect(f()) } catch (e) { done(e) }"}},
	{"tautology", "test_a.py", []string{"    assert True", "assert x.y == x.y", "self.assertEqual(a, a)", "self.assertTrue(True)"},
		[]string{"assert True is parse('yes')", "assert f(x) == f(x)", "assert a == b", "self.assertEqual(a, b)"}},
	{"tautology", "a_test.go", []string{"assert.True(t, true)", "if !reflect.DeepEqual(got, got) {", "require.Equal(t, want, want)"}, []string{"assert.True(t, ok)", "reflect.DeepEqual(got, want)"}},
	{"tautology", "a.test.js", []string{"expect(true).toBe(true)", "assert.equal(a, a)"}, []string{"expect(f()).toBe(true)", "assert.equal(a, b)"}},
	{"tautology", "a.rs", []string{"assert!(true);", "assert_eq!(a, a);"}, []string{"assert!(ok);", "assert_eq!(a, b);"}},
	{"sleep-in-test", "test_a.py", []string{"    time.sleep(1)", "await asyncio.sleep(0.5)"}, []string{"clock.sleep_until(3)"}},
	{"sleep-in-test", "a_test.go", []string{"time.Sleep(time.Second)"}, []string{"clock.Sleep(1)"}},
	{"sleep-in-test", "a.test.js", []string{"await new Promise(r => setTimeout(r, 10))", "await sleep(10)"}, []string{"jest.useFakeTimers()"}},
	{"reads-surroundings", "test_a.py", []string{"if os.environ.get('CI'):", "subprocess.run(['git', 'log'])", "open('.git/HEAD')"}, []string{"os.environ['X'] = '1'", "import github"}},
	{"reads-surroundings", "a_test.go", []string{"os.Getenv(\"CI\")", "exec.Command(\"git\", \"log\")"}, []string{"t.Setenv(\"X\", \"1\")"}},
	{"reads-surroundings", "a.test.js", []string{"if (process.env.CI) {"}, []string{"process.env.X = '1'"}},
	{"asks-for-tests", "a.py", []string{"if 'pytest' in sys.modules:", "if os.environ.get('PYTEST_CURRENT_TEST'):"}, []string{"import pytest", "# PYTEST_CURRENT_TEST"}},
	{"asks-for-tests", "a.go", []string{"if testing.Testing() && x < 0 {", "if flag.Lookup(\"test.v\") != nil {"}, []string{"func Testing(t *testing.T) {"}},
	{"asks-for-tests", "a.ts", []string{"if (process.env.NODE_ENV === 'test') {", "return process.env['NODE_ENV'] !== \"test\"", "if (process.env.JEST_WORKER_ID) {", "if (typeof jest !== 'undefined')"},
		[]string{"process.env.NODE_ENV === 'production'", "mode === 'test'"}},
	{"asks-for-tests", "a.rs", []string{"    if cfg!(test) && x < 0 {", "#[cfg(not(test))]"}, []string{"#[cfg(test)]", "#[cfg(not(feature = \"test\"))]"}},
	{"mocks-the-subject", "test_a.py", []string{"@patch('pkg.mod.compute')", "patch.object(mod, 'compute')", "monkeypatch.setattr(mod, 'compute', f)"}, []string{"@patch('pkg.mod.other')", "compute()"}},
	{"mocks-the-subject", "a.test.js", []string{"jest.spyOn(mod, 'compute')"}, []string{"jest.spyOn(mod, 'other')"}},
}

func TestRules(t *testing.T) {
	for _, e := range examples {
		for want, texts := range map[bool][]string{true: e.yes, false: e.no} {
			for _, text := range texts {
				if got := speaks(e.rule, e.file, text); got != want {
					t.Errorf("%s in %s: %v, want %v: %s", e.rule, e.file, got, want, text)
				}
			}
		}
	}
}

func speaks(rule, file, text string) bool {
	var added []Line
	for i, line := range strings.Split(text, "\n") {
		added = append(added, Line{i + 1, line})
	}
	for _, finding := range append(Find(file, added, map[string]bool{"compute": true}), FindInProduct(file, added)...) {
		if finding.Rule == rule {
			return true
		}
	}
	return false
}

func TestPlaces(t *testing.T) {
	added := []Line{{10, "def test():"}, {11, "    try:"}, {12, "        assert f()"}, {13, "    except Exception:"}, {14, "        pass"}, {20, "    assert True"}}
	var got []string
	for _, f := range Find("test_a.py", added, nil) {
		got = append(got, f.Rule)
		if want := map[string]int{"swallowed-assertion": 13, "tautology": 20}[f.Rule]; f.Line != want {
			t.Errorf("%s is at line %d, want %d", f.Rule, f.Line, want)
		}
	}
	if len(got) != 2 {
		t.Errorf("found %v", got)
	}
}

// TestDocumented holds that every rule has its section in the documentation.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		if !strings.Contains(string(page), "## "+e.rule+"\n") {
			t.Errorf("docs/rules.md has no section on %s", e.rule)
		}
	}
}
