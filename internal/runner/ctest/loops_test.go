package ctest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestLoops finds programs that loops and functions make.
func TestLoops(t *testing.T) {
	for loop, want := range map[string]string{
		"set(all\n  a_tests # first\n  b)\nlist(APPEND all c)\nforeach(it ${all})\n  add_executable(\"${it}\" \"${it}.c\")\n  add_test(NAME \"${it}\" COMMAND \"./${it}\")\nendforeach()": "tests/a_tests.c tests/b.c tests/c.c",
		"foreach(it IN ITEMS a_tests b)\n  add_executable(t_${it} ${it}.c)\n  add_test(NAME ${it} COMMAND t_${it})\nendforeach()":                                                         "tests/a_tests.c tests/b.c",
		"set(all b)\nforeach(it IN LISTS all)\n  add_executable(${it} ${it}.c)\n  add_test(${it} ${it})\nendforeach()":                                                                    "tests/b.c",
		"function(one it)\n  add_executable(${it} ${it}.c)\n  add_test(NAME ${it} COMMAND ${it})\nendfunction()\none(c)":                                                                  "tests/a_tests.c tests/b.c tests/c.c",
		"add_executable(${name} b.c)\nadd_test(NAME ${name} COMMAND ${name})":                                                                                                             "tests/b.c",
	} {
		state := plainstate.New(t, fmt.Sprintf("-- CMakeLists.txt --\nproject(x C)\nadd_subdirectory(tests)\n-- tests/CMakeLists.txt --\n%s\n", loop)+
			"-- tests/a_tests.c --\nint main(void) { return 0; }\n-- tests/b.c --\nint main(void) { return 0; }\n-- tests/c.c --\nint main(void) { return 0; }\n-- tests/setup.c --\nvoid setup(void) {}\n")
		if got := strings.Join(newProject(state.Tree(), ".").units(), " "); got != want {
			t.Errorf("%s\nhas %q, want %q", loop, got, want)
		}
	}
}

// TestPrograms finds a program's sources by its name.
func TestPrograms(t *testing.T) {
	state := plainstate.New(t, `
-- CMakeLists.txt --
project(x C)
set(THE_TEST x_test)
add_executable("${THE_TEST}" test.c)
add_test(NAME ${THE_TEST} COMMAND "${CMAKE_CURRENT_BINARY_DIR}/${THE_TEST}")
add_executable(other_${suffix} other.c)
-- test.c --
int main(void) { return 0; }
-- other.c --
int main(void) { return 0; }
`)
	p := newProject(state.Tree(), ".")
	for program, want := range map[string]string{"x_test": "test.c", "other_a": "other.c", "another": ""} {
		if got := strings.Join(p.of(program), " "); got != want {
			t.Errorf("%s is of %q, want %q", program, got, want)
		}
	}
	if got := strings.Join(p.units(), " "); got != "test.c" {
		t.Errorf("units %q", got)
	}
}
