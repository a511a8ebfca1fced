package wire_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley/internal/wire"
)

// The types of an admission have the shape of those which stores write, with as
// many fields that are zero.
type (
	expectation interface{ expected() }
	keyIs       struct{ Key, Session name }
	atMost      struct {
		Session name
		Max     int
	}
	part struct {
		Kind, Text string
		Note       bool
		A, B, C    *square
	}
	input struct {
		Ref                   struct{ Origin, ID string }
		Kind                  name
		Parts                 []part
		Sender                struct{ ID, AltID, Name string }
		Mentioned             bool
		ReplyTo, MessageID    string
		Target                *square
		Principal             struct{ Identity, User, Role, Via name }
		Busy, State, Decision string
		NotBefore             time.Time
		Turn, Session         name
		Seq, Shown            uint64
		At                    time.Time
	}
	change struct {
		Session name
		Create  *square
		Claim   bool
		Patch   struct {
			A, B, C, D, E, F, G *string
			Metadata            map[string]string
		}
		Admit               []input
		B, C, D, E, F, G, H []square
		Redact              []uint64
		Delete              bool
	}
	admission struct {
		At                        time.Time
		MayWait                   bool
		Expect                    []expectation
		Blobs                     []square
		Sessions                  []change
		B, C, D, E, F, G, H, I, J []square
	}
)

func (keyIs) expected()  {}
func (atMost) expected() {}

// admit gives the codec of admissions, and one with a message of 450 bytes.
func admit(t testing.TB) (*wire.Codec[admission], *admission) {
	t.Helper()
	c := codec[admission](t, wire.Choices{Interface: reflect.TypeFor[expectation](), Types: map[string]reflect.Type{
		"key_is": reflect.TypeFor[keyIs](), "at_most": reflect.TypeFor[atMost](),
	}})
	in := input{
		Kind: "message", Parts: []part{{Kind: "text", Text: strings.Repeat("some words", 45)}}, MessageID: "17",
		State: "queued", Decision: "a turn is running",
	}
	in.Ref.Origin, in.Ref.ID = "telegram/default/telegram:c17", "17"
	in.Sender.ID, in.Sender.Name = "c17", "Ada Example"
	in.Principal.Identity, in.Principal.User, in.Principal.Role, in.Principal.Via = "telegram:c17", "ada", "user", "channel"
	return c, &admission{
		At:       time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC),
		Expect:   []expectation{keyIs{Key: "sk_v1_bench_c17", Session: "telegram:c17"}, atMost{Session: "telegram:c17", Max: 31}},
		Sessions: []change{{Session: "telegram:c17", Admit: []input{in}}},
	}
}

func BenchmarkAppend(b *testing.B) {
	c, v := admit(b)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = c.Append(buf[:0], v); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

func BenchmarkDecode(b *testing.B) {
	c, v := admit(b)
	data := encode(b, c, *v)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
