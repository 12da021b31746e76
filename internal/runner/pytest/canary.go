package pytest

import (
	"crypto/rand"
	"encoding/hex"
)

// canaryName is the name of the tests that the observer adds to every run and
// that must fail. It cannot be known to the code that is tested before it runs.
func canaryName() string {
	var random [6]byte
	rand.Read(random[:]) // never fails
	return "test_" + hex.EncodeToString(random[:])
}
