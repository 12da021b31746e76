package patchsplit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomRust makes a file of functions and test items, few enough names for
// lines to repeat.
func randomRust(random *rand.Rand) string {
	var items []string
	for range 1 + random.IntN(7) {
		items = append(items, randomItem(random))
	}
	text := strings.Join(items, []string{"\n", ""}[random.IntN(2)])
	if random.IntN(6) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

func randomItem(random *rand.Rand) string {
	n := random.IntN(4)
	switch random.IntN(5) {
	case 0:
		return fmt.Sprintf("#[cfg(test)]\nmod tests {\n    #[test]\n    fn t%d() {\n        f%d();\n    }\n}\n", n, random.IntN(3))
	case 1:
		return fmt.Sprintf("#[test]\nfn t%d() {\n    f%d();\n}\n", n, random.IntN(3))
	case 2:
		return fmt.Sprintf("#[cfg(test)]\nuse x%d;\n", n)
	}
	return fmt.Sprintf("fn f%d() {\n    g%d();\n    h();\n}\n", n, random.IntN(3))
}

// alter changes some lines of a text, inserts and deletes items.
func alter(random *rand.Rand, text string) string {
	items := strings.SplitAfter(text, "}\n")
	var out strings.Builder
	for _, item := range items {
		switch random.IntN(6) {
		case 0:
			continue
		case 1:
			out.WriteString(randomItem(random))
		case 2:
			item = strings.Replace(item, "();", fmt.Sprintf("(%d);", random.IntN(3)), 1)
		}
		out.WriteString(item)
	}
	if random.IntN(3) == 0 {
		out.WriteString(randomItem(random))
	}
	return out.String()
}

// TestMixedPartsEqualWhole is the law of splitting for mixed files, checked by
// git: with base's tree at hand and without it, the parts of a diff in any
// order give what the whole gives.
func TestMixedPartsEqualWhole(t *testing.T) {
	r := newRepo(t)
	base, head := mapTree{}, mapTree{}
	random := rand.New(rand.NewPCG(7, 7))
	for i := range 150 {
		path := fmt.Sprintf("src/m%03d.rs", i)
		base[path] = randomRust(random)
		head[path] = alter(random, base[path])
		if base[path] == head[path] {
			head[path] += "// end\n"
		}
	}
	commit := func(tree mapTree) string {
		for path, text := range tree {
			r.write(path, text)
		}
		return r.commit()
	}
	from, to := commit(base), commit(head)
	want := strings.TrimSpace(r.git(nil, "rev-parse", to+"^{tree}"))
	for _, form := range []string{"-U3", "-U0", "-U25", "--patience"} {
		for _, trees := range []Tree{nil, base} {
			t.Run(fmt.Sprintf("%s trees=%t", form, trees != nil), func(t *testing.T) {
				patch, err := Parse(strings.NewReader(r.git(nil, "diff", form, from, to)))
				if err != nil {
					t.Fatal(err)
				}
				c := classifier(t, Rules{}, trees, nil)
				mixed, kept := 0, 0
				for _, part := range patch.Parts(c) {
					if part.Part == Mixed {
						mixed++
						if strings.Contains(part.Why, "keep it whole") {
							kept++
						}
					}
				}
				if mixed < 20 || kept > mixed/3 && (form != "-U0" || trees != nil) {
					t.Errorf("%d of %d mixed files were kept whole", kept, mixed)
				}
				t.Logf("%d mixed, %d of them kept whole", mixed, kept)
				production, test, neutral := patch.Split(c)
				if len(neutral.Files) > 0 {
					t.Error("sources are not neutral")
				}
				for _, order := range [][2]*Patch{{production, test}, {test, production}} {
					if got := r.apply(from, order[0].Bytes(), order[1].Bytes()); got != want {
						t.Errorf("gives tree %s, the whole gives %s\n%s", got, want, r.git(nil, "diff", got, want))
					}
				}
				for _, part := range []*Patch{production, test} {
					if again, err := Parse(bytes.NewReader(part.Bytes())); err != nil || len(again.Files) != len(part.Files) {
						t.Errorf("a part is no patch: %v", err)
					}
				}
			})
		}
	}
}
