package report

import (
	"fmt"
	"io"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// BenchmarkWrite writes a report of 100,000 checks.
func BenchmarkWrite(b *testing.B) {
	r := manyRows()
	for i := range 100_000 {
		r.Checks = append(r.Checks, own(fmt.Sprintf("tests/test_%d.py::test_%d", i%500, i), gate.Added, gate.RegressionOnly, "passes on base too", passed, passed))
	}
	for _, format := range Formats() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				if err := Write(io.Discard, format, r, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
