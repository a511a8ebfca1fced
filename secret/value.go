package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Mask stands wherever a secret would.
const Mask = "[secret]"

// Value is a secret. However it is printed, logged or marshalled, alone or inside
// of something else, [Mask] or an address comes out; only [Value.Reveal] gives
// the secret. Values cannot be compared with ==.
type Value struct {
	// A function, as that is opaque to everything that prints by reflection.
	reveal func() string
}

// NewValue makes a value of a secret.
func NewValue(secret string) Value {
	return Value{reveal: func() string { return secret }}
}

// Reveal gives the secret; "" for the zero value. Call it where the secret is
// used, and keep the result nowhere.
func (v Value) Reveal() string {
	if v.reveal == nil {
		return ""
	}
	return v.reveal()
}

// String gives the mask.
func (v Value) String() string { return Mask }

// GoString gives the mask.
func (v Value) GoString() string { return Mask }

// Format writes the mask, whatever the verb.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Mask) }

// LogValue gives the mask.
func (v Value) LogValue() slog.Value { return slog.StringValue(Mask) }

// MarshalText gives the mask, for JSON as well.
func (v Value) MarshalText() ([]byte, error) { return []byte(Mask), nil }
