package gate

import "testing"

// TestHeirs builds a base and a head of rows and asks which row took whose place.
func TestHeirs(t *testing.T) {
	const long = `
    response = client.get("/users", headers={"Accept": "application/json"})
    assert response.status_code == 200
    assert response.json()["users"][0]["name"] == "ada"
    assert response.headers["Content-Type"].startswith("application/json")`
	type test struct{ id, digest, text, parent string }
	for _, c := range []struct {
		name       string
		base, head []test
		want       map[string]string
	}{
		{"moved", []test{{id: "a.py::test_x", digest: "1"}}, []test{{id: "b.py::test_x", digest: "1"}}, map[string]string{"a.py::test_x": "b.py::test_x"}},
		{"renamed", []test{{id: "m.TestA", digest: "1"}}, []test{{id: "m.TestSum", digest: "1"}}, map[string]string{"m.TestA": "m.TestSum"}},
		{"became parametrised", []test{{id: "a.py::test_x", digest: "1"}}, []test{{id: "a.py::test_x[1]", digest: "2"}, {id: "a.py::test_x[2]", digest: "3"}}, map[string]string{"a.py::test_x": "a.py::test_x[1]"}},
		{"renamed with its expectation", []test{{id: "a.py::test_excess_argument_is_ignored", digest: "1", text: "def t(): assert parse(['x', 'y']) == ['x']"}},
			[]test{{id: "a.py::test_excess_argument_is_an_error", digest: "2", text: "def t(): assert parse(['x', 'y']) is None"}},
			map[string]string{"a.py::test_excess_argument_is_ignored": "a.py::test_excess_argument_is_an_error"}},
		{"short tests of other things", []test{{id: "a.py::test_positive", digest: "1", text: "def test_positive():\n    assert absolute(2) == 2"}},
			[]test{{id: "a.py::test_negative", digest: "2", text: "def test_negative():\n    assert absolute(-2) == 2"}}, map[string]string{}},
		{"a long text under another name", []test{{id: "a.py::test_users", digest: "1", text: long}}, []test{{id: "a.py::test_listing", digest: "2", text: long + " # v2"}}, map[string]string{"a.py::test_users": "a.py::test_listing"}},
		{"a parameter's expectation", []test{{id: "a.py::test_x[two-2]", digest: "1"}, {id: "a.py::test_x[one-1]", digest: "2"}}, []test{{id: "a.py::test_x[two-3]", digest: "3"}, {id: "a.py::test_x[one-1]", digest: "2"}},
			map[string]string{"a.py::test_x[two-2]": "a.py::test_x[two-3]"}},
		{"a parameter dropped", []test{{id: "a.py::test_x[two]", digest: "1"}, {id: "a.py::test_x[one]", digest: "2"}}, []test{{id: "a.py::test_x[one]", digest: "2"}}, map[string]string{}},
		{"a parameter of another case that shares its words", []test{{id: "a.py::test_x[2-3-6]", digest: "1"}, {id: "a.py::test_x[2-2-4]", digest: "2"}}, []test{{id: "a.py::test_x[3-6-9]", digest: "3"}, {id: "a.py::test_x[2-2-4]", digest: "2"}}, map[string]string{}},
		{"a parameter's words", []test{{id: "a.py::test_x[two words-2]", digest: "1"}, {id: "a.py::test_x[1-1]", digest: "2"}}, []test{{id: "a.py::test_x[two long words-2]", digest: "3"}, {id: "a.py::test_x[1-1]", digest: "2"}},
			map[string]string{"a.py::test_x[two words-2]": "a.py::test_x[two long words-2]"}},
		{"a case dropped for another", []test{{id: "m.TestA", digest: "1"}, {id: "m.TestA/positive", digest: "1", parent: "m.TestA"}}, []test{{id: "m.TestA", digest: "2"}, {id: "m.TestA/negative", digest: "2", parent: "m.TestA"}}, map[string]string{}},
		{"parts of a renamed test", []test{{id: "m.TestA", digest: "1"}, {id: "m.TestA/x", digest: "1", parent: "m.TestA"}}, []test{{id: "m.TestB", digest: "1"}, {id: "m.TestB/x", digest: "1", parent: "m.TestB"}},
			map[string]string{"m.TestA": "m.TestB", "m.TestA/x": "m.TestB/x"}},
	} {
		m, texts := &Matrix{}, make(map[string]string)
		for state, side := range map[StateName][]test{Base: c.base, Head: c.head} {
			for _, test := range side {
				m.See(state, Row{ID: test.id, Runner: "r", File: "f", Digest: test.digest, Parent: test.parent})
				texts[test.id] = test.text
			}
		}
		got := heirs(m, func(_ StateName, row Row) string { return texts[row.ID] })
		for from, to := range c.want {
			if got[Key{"r", from}].ID != to {
				t.Errorf("%s: %s lives on as %q, want %q", c.name, from, got[Key{"r", from}].ID, to)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
