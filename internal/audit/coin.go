package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// MinKey is the fewest bytes of a key.
const MinKey = 16

// Key is the secret behind the coins. Its Commitment is published when it comes
// into use and the key itself when it goes out of use, so that anyone can
// recheck every draw. It never appears in a report.
type Key struct{ secret []byte }

// NewKey takes a key's bytes.
func NewKey(secret []byte) (Key, error) {
	if len(secret) < MinKey {
		return Key{}, fmt.Errorf("the audit key has %d bytes: use %d or more, as from openssl rand -hex 32", len(secret), MinKey)
	}
	return Key{append([]byte(nil), secret...)}, nil
}

// ParseKey reads a key as a secret store keeps it: hexadecimal digits. The key
// is not part of any error.
func ParseKey(text string) (Key, error) {
	secret, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return Key{}, errors.New("the audit key is not hexadecimal: make one with openssl rand -hex 32")
	}
	return NewKey(secret)
}

// String keeps a key out of logs.
func (k Key) String() string { return "audit key " + k.ID() }

// GoString keeps a key out of %#v.
func (k Key) GoString() string { return k.String() }

// Commitment is what is published of a key before it is used: a digest, in
// hexadecimal.
func (k Key) Commitment() string {
	sum := sha256.Sum256(append([]byte("audit-key-commit-v1"), k.secret...))
	return hex.EncodeToString(sum[:])
}

// ID names the key in records: the first 16 digits of its commitment.
func (k Key) ID() string { return k.Commitment()[:16] }

// Coin says what a coin is drawn for. Member is empty when the whole group
// shares one coin. None of it may be something that an author can change by
// pushing again, such as a commit id or the name of a branch.
type Coin struct {
	Repository string `json:"repository"`
	Group      string `json:"group"`
	Member     string `json:"member"`
	Window     int    `json:"window"`
}

// Draw is one throw and all that it came from but the key.
type Draw struct {
	Coin
	KeyID       string      `json:"key"`
	U64         uint64      `json:"u64,string"` // the first 8 bytes of the HMAC
	Micro       int         `json:"micro"`      // U64 scaled to parts per million, rounded down
	Probability Probability `json:"ppm"`
	Heads       bool        `json:"heads"` // Micro < Probability: audit
}

// Draw throws the coin. The same key, coin and probability always give the same
// result.
func (k Key) Draw(c Coin, p Probability) Draw {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte("audit-coin-v1"))
	for _, field := range []string{c.Repository, c.Group, c.Member, strconv.Itoa(c.Window)} {
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(field))))
		mac.Write([]byte(field))
	}
	u := binary.BigEndian.Uint64(mac.Sum(nil))
	micro, _ := bits.Mul64(u, uint64(Certain))
	return Draw{Coin: c, KeyID: k.ID(), U64: u, Micro: int(micro), Probability: p, Heads: int(micro) < int(p)}
}
