package conformance

// Situations are what every framework is asked, in the order of the table.
var Situations = []string{
	"pass", "assertion", "exception", "missing symbol", "import error", "syntax error", "skip", "expected failure", "timeout", "crash", "retry",
	"duplicate names", "parametrised ids with odd characters", "nested suites", "output without newline", "set-up failure", "zero tests",
	"focused test", "snapshot", "slow test", "parallel test", "printed fake result", "child process", "wrong directory", "unicode",
}
