package pytest

import (
	"regexp"

	"github.com/touchstone-gate/touchstone/gate"
)

var addresses = regexp.MustCompile("0x[0-9a-fA-F]{6,}")

// clean makes text of tests fit for a message, without memory addresses.
func clean(text string) string {
	return gate.Message(addresses.ReplaceAllString(text, "0x_"))
}
