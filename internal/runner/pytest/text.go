package pytest

import (
	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var addresses = lazyregexp.New("0x[0-9a-fA-F]{6,}")

// clean makes text of tests fit for a message, without memory addresses.
func clean(text string) string {
	return gate.Message(addresses.ReplaceAllString(text, "0x_"))
}
