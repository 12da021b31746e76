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
