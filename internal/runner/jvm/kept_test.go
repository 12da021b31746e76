package jvm

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// heardState is a state that remembers what its last command printed.
type heardState struct {
	gate.State
	said bytes.Buffer
}

func (h *heardState) Run(ctx context.Context, cmd gate.Command) (gate.Exit, error) {
	h.said.Reset()
	cmd.Stdout = io.MultiWriter(cmd.Stdout, &h.said)
	return h.State.Run(ctx, cmd)
}

// keptBuild needs only what the conformance build fetches: its plugins, JUnit 4 by the vintage engine.
const keptBuild = `
-- pom.xml --
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>m</groupId>
  <artifactId>kept</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.junit.vintage</groupId>
      <artifactId>junit-vintage-engine</artifactId>
      <version>5.10.2</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.11.0</version></plugin>
    </plugins>
  </build>
</project>
-- src/main/java/m/Calc.java --
package m;

public class Calc {
    public static int twice(int n) { return 2 * n; }
}
-- src/test/resources/data.txt --
as it was
-- src/test/java/m/ATest.java --
package m;

import static org.junit.Assert.*;

import java.nio.file.*;
import org.junit.Test;

public class ATest {
    @Test public void doubles() { assertEquals(4, Calc.twice(2)); }

    @Test public void spoils() throws Exception {
        Path data = Paths.get(getClass().getResource("/data.txt").toURI());
        assertEquals("as it was", new String(Files.readAllBytes(data)).trim());
        Files.write(data, "spoiled".getBytes());
        Files.delete(Paths.get(Calc.class.getResource("Calc.class").toURI()));
    }
}
-- src/test/java/m/BTest.java --
package m;

import org.junit.Test;

public class BTest {
    @Test public void stands() {}

    @Test public void later() { Calc.thrice(2); }
}
`

// TestMavenKeeps builds a state once: what tests do to the build is not kept, what
// is taken out leaves no class behind, and another state is built anew.
func TestMavenKeeps(t *testing.T) {
	plainstate.Need(t, "mvn", "--version")
	plainstate.Heavy(t, "calls Maven ten times")
	plain := plainstate.New(t, keptBuild)
	state := &heardState{State: plain}
	r := New(Config{Env: map[string]string{"MAVEN_OPTS": "-XX:TieredStopAtLevel=1"}, Timeout: 3 * time.Minute})
	ask := func(units, want string, built bool) {
		t.Helper()
		plainstate.Compare(t, run(t, r, state, strings.Fields(units)), want)
		if got := strings.Contains(state.said.String(), "Compiling "); got != built {
			t.Errorf("%s: compiled %v, want %v:\n%s", units, got, built, state.said.String())
		}
	}
	const a, b = "src/test/java/m/ATest.java", "src/test/java/m/BTest.java"
	ask(a, "m.ATest#doubles: passed\nm.ATest#spoils: passed\n", true) // and finds that BTest does not compile
	ask(a, "m.ATest#doubles: passed\nm.ATest#spoils: passed\n", false)
	ask(b, "m.BTest#stands: passed\nm.BTest#later: errored compile thrice\n", false)

	calc := filepath.Join(plain.Dir(), "src/main/java/m/Calc.java")
	text, err := os.ReadFile(calc)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(calc)
	if err := os.WriteFile(calc, bytes.Replace(text, []byte("2 * n"), []byte("3 * n"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(calc, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	state = &heardState{State: plainstate.At(t, plain.Dir())}
	ask(a, "m.ATest#doubles: failed assertion\nm.ATest#spoils: passed\n", true)
}

// BenchmarkQuestions asks a state four times, as a gate does, with what was built
// kept and without.
func BenchmarkQuestions(b *testing.B) {
	plainstate.Heavy(b, "calls Maven many times")
	from := os.Getenv("TOUCHSTONE_TEST_MAVEN_TREE")
	if from == "" {
		b.Skip("TOUCHSTONE_TEST_MAVEN_TREE names no work tree of a Maven build")
	}
	for name, keep := range map[string]bool{"kept": true, "anew": false} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				r := New(Config{})
				r.forgetful.Store(!keep)
				state := plainstate.At(b, from)
				units, err := r.Units(context.Background(), state.Tree(), nil, true)
				if err != nil || len(units) == 0 {
					b.Fatal(len(units), err)
				}
				for i := range 4 {
					result, err := r.Run(context.Background(), state, gate.Batch{Units: units[:1]})
					if err != nil || len(result.Rows) == 0 {
						b.Fatal(i, err, result.Units)
					}
				}
			}
		})
	}
}
