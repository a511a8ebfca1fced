package storetest

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// badName is text that no name may be, with the code it is refused with.
type badName struct {
	what, text string
	code       parley.Code
	onlyIDs    bool
}

var badNames = []badName{
	{"NUL", "a\x00b", parley.CodeInvalid, false},
	{"a newline", "a\nb", parley.CodeInvalid, false},
	{"an escape", "a\x1b[31mb", parley.CodeInvalid, false},
	{"invalid UTF-8", "a\xff\xfeb", parley.CodeInvalid, false},
	{"a megabyte", strings.Repeat("x", 1<<20), parley.CodeTooLarge, false},
	{"a slash", "../b", parley.CodeInvalid, true},
	{"a backslash", `a\b`, parley.CodeInvalid, true},
	{"a space", "a b", parley.CodeInvalid, true},
	{"a wide space", "a\u3000b", parley.CodeInvalid, true},
}

// badProse is text that nobody may write, where line breaks are welcome.
var badProse = []badName{
	{"NUL", "a\x00b", parley.CodeInvalid, false},
	{"invalid UTF-8", "a\xff\xfeb", parley.CodeInvalid, false},
	{"more than a megabyte", strings.Repeat("x", 1<<20+1), parley.CodeTooLarge, false},
}

var badInputTests = []test{
	{"names", func(f *fixture) {
		badWorld(f)
		for _, p := range namePlaces {
			for _, bad := range badNames {
				if !bad.onlyIDs || p.isID {
					f.refuseBad(p.name+" with "+bad.what, bad.code, p.batch(bad.text))
				}
			}
		}
	}},
	{"names that are missing", func(f *fixture) {
		badWorld(f)
		for _, p := range namePlaces {
			if p.required {
				f.refuseBad(p.name+" that is empty", parley.CodeInvalid, p.batch(""))
			}
		}
	}},
	{"prose", func(f *fixture) {
		badWorld(f)
		for _, p := range prosePlaces {
			for _, bad := range badProse {
				f.refuseBad(p.name+" with "+bad.what, bad.code, p.batch(bad.text))
			}
		}
	}},
	{"batches", func(f *fixture) {
		badWorld(f)
		for _, bad := range badBatches {
			f.refuseBad(bad.name, bad.code, bad.batch())
		}
	}},
	{"batches that are too large all in all", func(f *fixture) {
		badWorld(f)
		for _, bad := range oversizedBatches {
			f.refuseBad(bad.name, bad.code, bad.batch())
		}
		largest := oversizedBatches[slices.IndexFunc(oversizedBatches, func(b badBatch) bool { return b.name == oversizedEvents })].batch()
		events := largest.Sessions[0].Events
		largest.Sessions[0].Events = events[:len(events)-2]
		f.commit(largest)
	}},
	{"reads of names that cannot be", func(f *fixture) {
		badWorld(f)
		for _, bad := range badNames {
			text := bad.text
			u := universe{
				sessions: []parley.SessionID{parley.SessionID("cli:" + text)}, names: []string{text},
				refs:       []parley.InputRef{{Origin: text, ID: "1"}, {Origin: "telegram/main/7", ID: text}},
				turns:      []parley.TurnID{"t1"},
				users:      []parley.UserID{parley.UserID(text)},
				identities: []parley.IdentityID{parley.IdentityID("telegram:" + text)},
				actions:    []string{text},
				blobs:      []parley.BlobHandle{parley.BlobHandle(text)},
			}
			for _, q := range questions(u, all) {
				switch a := q.of(f.Context(), f.store); a.Code {
				case "", parley.CodeNotFound:
				default:
					f.Errorf("%s with %s: code %s, want what nobody has", q.method, bad.what, a.Code)
				}
			}
			_, err := f.store.Session(f.Context(), all, u.sessions[0])
			f.code("Session with "+bad.what, parley.CodeNotFound, err)
			_, err = f.store.Tokens(f.Context(), "", parley.TokenID(text), 0)
			f.code("Tokens after "+bad.what, "", err)
			_, err = f.store.AllIdentities(f.Context(), parley.IdentityID(text), 0)
			f.code("AllIdentities after "+bad.what, "", err)
			_, err = f.store.Turn(f.Context(), all, home, parley.TurnID(text))
			f.code("Turn with "+bad.what, parley.CodeNotFound, err)
			for _, v := range []parley.Visibility{parley.SeeAs(u.identities...), {All: true, Namespace: text}} {
				_, err = f.store.Session(f.Context(), v, home)
				f.code("Session for a reader with "+bad.what, parley.CodeNotFound, err)
			}
		}
	}},
}

// badWorld is a little of everything, to be left as it is.
func badWorld(f *fixture) {
	f.Helper()
	expectedWorld(f)
}

// refuseBad makes sure that a batch is refused with a message that helps, and
// that nothing of it is written.
func (f *fixture) refuseBad(what string, code parley.Code, b parley.Batch) {
	f.Helper()
	if b.At.IsZero() {
		b.At = startOfTime
	}
	unchanged := f.watch(parley.Batch{})
	_, err := f.store.Commit(f.Context(), b)
	f.code(what, code, err)
	checkMessage(f, what, err)
	unchanged()
}

// checkMessage makes sure that an error says something, on one line that a
// terminal can show, and does not echo all it was given.
func checkMessage(f *fixture, what string, err error) {
	f.Helper()
	var e *parley.Error
	if !errors.As(err, &e) {
		f.Errorf("%s: error %v is no parley.Error", what, shown(err))
		return
	}
	text := err.Error()
	control := strings.ContainsFunc(text, unicode.IsControl)
	if e.Message == "" || len(text) > 1000 || !utf8.ValidString(text) || control {
		f.Errorf("%s: the message does not help: %.300q", what, text)
	}
}
