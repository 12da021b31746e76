package braces

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// outline writes members as lines: kind, name, first and last line, annotations.
func outline(s *Source, members []*Member, indent string) string {
	var out strings.Builder
	for _, m := range members {
		name := map[Kind]string{Other: "other", Field: "field", Method: "method", Type: "type", Import: "import"}[m.Kind]
		fmt.Fprintf(&out, "%s%s %s %d-%d %s\n", indent, name, m.Name, s.LineAt(m.From), s.LineAt(m.To-1), strings.Join(strings.Fields(m.Notes), " "))
		out.WriteString(outline(s, m.Inside, indent+"  "))
	}
	return out.String()
}

func TestOutline(t *testing.T) {
	for name, c := range map[string]struct {
		dialect    Dialect
		text, want string
	}{
		"java": {Java, `package a.b;
import static x.Y.*;
/** {@code } */
@Tag("a")
public class T extends Base<Map<String, int[]>> {
  private final String s = "} // {", t = """
    } " text
  """;
  static int[] all = {1, 2};
  Runnable r = () -> { go(); };
  @ParameterizedTest(name = "{0}") @ValueSource(strings = {"}", "b"})
  void each(String s) throws Exception { char c = '}'; if (a) { b(); } }
  public @Test void later() {}
  abstract void none();
  @Nested class In { @Test void deep() {} }
  static { x(); }
  @interface Mine { int value(); }
  record P(int x) {}
}
`, `import  1-1
import  2-2
type T 4-19 @Tag("a")
  field s 6-8
  field all 9-9
  field r 10-10
  method each 11-12 @ParameterizedTest(name = "{0}") @ValueSource(strings = {"}", "b"})
  method later 13-13 @Test
  method none 14-14
  type In 15-15 @Nested
    method deep 15-15 @Test
  field  16-16
  type Mine 17-17
    method value 17-17
  type P 18-18
`},
		"kotlin": {Kotlin, "package a\nimport b.C\nval top = 1\nclass T(val x: Int) : Base(), I {\n  val y = listOf(1)\n    .map { it }\n  @Test\n  fun `a b`() = check(y)\n  @Test fun c() {\n  }\n  companion object {\n    const val Z = \"}\"\n  }\n}\n", `import  1-1
import  2-2
field top 3-3
type T 4-14
  field y 5-6
  method a b 7-8 @Test
  method c 9-10 @Test
  type  11-13
    field Z 12-12
`},
		"c++": {CPP, "#include <a>\n#define X(a) \\\n  f(a)\nnamespace n {\nclass F : public ::testing::Test {\n public:\n  int x = 1'000;\n  void SetUp() override {}\n};\nTEST_F(F, Works) { EXPECT_EQ(R\"(})\", \"\\\"\"); }\n}\nTEST_CASE(\"a } b\", \"[x]\") {\n  SECTION(\"s\") {}\n}\nstatic int v[] = {1};\nbool operator==(A a, B b) { return 1; }\n", `import  1-1
import  2-3
type n 4-11
  type F 5-9
    field public 6-6
    field x 7-7
    method SetUp 8-8
  method TEST_F 10-10
method TEST_CASE 12-14
field v 15-15
method operator 16-16
`},
		"php": {PHP, "<?php\nnamespace A;\nuse B\\C;\nfinal class T extends TestCase\n{\n    # }\n    private $x = ['}' => 1];\n    #[DataProvider('p')]\n    public function testA(int $x): void\n    {\n        $s = <<<EOT\n} text\nEOT;\n    }\n}\n", `import  2-2
import  3-3
type T 4-15
  field $x 7-7
  method testA 8-14 #[DataProvider('p')]
`},
	} {
		s := Parse("x", []byte(c.text), c.dialect)
		got := strings.ReplaceAll(outline(s, s.Members, ""), " \n", "\n")
		if got != strings.ReplaceAll(c.want, " \n", "\n") {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// TestLeftOut blanks a method, keeps lines, and knows why.
func TestLeftOut(t *testing.T) {
	s := Parse("T.java", []byte("class T {\n  @Test void a() {\n  }\n  void b() {}\n}\n"), Java)
	l := NewLeftOut()
	m := s.At(s.Offset(2, 10))[1]
	why := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile}
	if !l.Erase(s, m.From, m.To, why, m.Name) || l.Erase(s, m.From, m.To, why) {
		t.Error("a piece is taken out once")
	}
	text, err := l.Text(nil, "T.java")
	if err != nil || strings.Count(string(text), "\n") != 5 || strings.Contains(string(text), "Test") || !strings.Contains(string(text), "void b() {}") {
		t.Errorf("left %q, %v", text, err)
	}
	if o, ok := l.Why("T.java", m); !ok || o.Reason != gate.Compile {
		t.Error("the reason is lost")
	}
	if _, ok := l.Why("T.java", s.Members[0].Inside[1]); ok {
		t.Error("b was not taken out")
	}
	if _, ok := l.Cause("a"); !ok {
		t.Error("the name is lost")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("class A { @T(x={\"}\"}) void b() {} }"), uint8(0))
	f.Add([]byte("#define A\nTEST(a, b) { R\"x(})x\"; }"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, d uint8) {
		s := Parse("x", text, Dialect(d%4))
		last := 0
		for _, m := range s.Members {
			if m.From < last || m.To <= m.From || m.To > len(text) || m.Head < m.From || m.Open > m.End {
				t.Fatalf("member %+v behind %d of %d", m, last, len(text))
			}
			last = m.To
		}
	})
}
