package secret

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/parley-run/parley"
)

// The limits of references and of what they lead to.
const (
	MaxName  = 128       // bytes of a variable's or a keyring item's name
	MaxPath  = 4096      // bytes of a path
	MaxValue = 64 * 1024 // bytes of a secret
)

// The kinds of references.
const (
	kindEnv     = "env"
	kindFile    = "file"
	kindKeyring = "keyring"
)

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	itemName     = regexp.MustCompile(`^[A-Za-z0-9._/@:-]+$`)
)

// Ref says where a secret is; it is not secret itself. The zero value is no
// reference.
type Ref struct {
	kind, name string
}

// Parse reads a reference: "env:NAME", "file:PATH" or "keyring:NAME". Anything
// else is refused with CodeInvalid, and the error explains what to write. It
// does not repeat the text, which may well be a secret.
func Parse(text string) (Ref, error) {
	kind, name, _ := strings.Cut(text, ":")
	r := Ref{kind: kind, name: name}
	if err := CheckPlain(text); err != nil {
		return Ref{}, err
	}
	switch {
	case kind != kindEnv && kind != kindFile && kind != kindKeyring:
		return Ref{}, invalid("a secret is not written down but referred to: give env:NAME, file:PATH or keyring:NAME")
	case name == "":
		return Ref{}, invalid("%s: lacks what to look for; give env:NAME, file:PATH or keyring:NAME", kind)
	case kind == kindEnv && (len(name) > MaxName || !variableName.MatchString(name)):
		return Ref{}, invalid("the name after env: is not one of a variable; it has letters, digits and _, and at most %d of them", MaxName)
	case kind == kindFile && (len(name) > MaxPath || strings.ContainsRune(name, 0)):
		return Ref{}, invalid("the path after file: is not one; it has at most %d bytes, and none is zero", MaxPath)
	case kind == kindKeyring:
		if err := checkItem(name); err != nil {
			return Ref{}, err
		}
	}
	return r, nil
}

// checkItem refuses what cannot name an item of a keyring on every system.
func checkItem(name string) error {
	if len(name) > MaxName || !itemName.MatchString(name) {
		return invalid("the name of a keyring item has letters, digits and . _ / @ : -, and at most %d of them", MaxName)
	}
	return nil
}

// String gives the reference as [Parse] takes it; "" for the zero value.
func (r Ref) String() string {
	if r.IsZero() {
		return ""
	}
	return r.kind + ":" + r.name
}

// IsZero reports whether r is no reference.
func (r Ref) IsZero() bool { return r == Ref{} }

// MarshalText gives the reference as [Parse] takes it.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is [Parse]; no text at all is no reference.
func (r *Ref) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Ref{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// Sources says where references lead.
type Sources struct {
	// Dir is the folder that relative paths start from. "" is the working folder.
	Dir string

	// LookupEnvFunc looks up a variable. nil is [os.LookupEnv].
	LookupEnvFunc func(name string) (value string, ok bool)

	// KeyringFunc gives an item of the keyring, or an error of the root package
	// that says what to do. nil asks the system's, where the items of the service
	// "parley" are.
	KeyringFunc func(ctx context.Context, name string) (string, error)

	// Scrubber learns each value that is handed out. nil is none.
	Scrubber *Scrubber
}

// Resolve gives the secret that r leads to. A secret that is missing or empty
// is CodeNotFound, one that others can read or that is no plain file CodeInvalid,
// one beyond [MaxValue] CodeTooLarge, and a source that cannot be read, or does
// not answer before ctx ends, CodeUnavailable.
//
// A file must be readable by its owner alone, which is not checked on Windows.
// The newline at its end is no part of the secret.
func (r Ref) Resolve(ctx context.Context, from Sources) (Value, error) {
	if err := ctx.Err(); err != nil {
		return Value{}, gaveUp("gave up before looking for "+r.String(), err)
	}
	text, err := r.lookup(ctx, from)
	switch {
	case err != nil:
		return Value{}, err
	case text == "":
		return Value{}, notFound("the secret %s is empty; fill it in, or refer to another", r)
	case len(text) > MaxValue:
		return Value{}, tooLarge("the secret %s has more than %d bytes; is that the right place?", r, MaxValue)
	}
	v := NewValue(text)
	if from.Scrubber != nil {
		from.Scrubber.Add(v)
	}
	return v, nil
}

func (r Ref) lookup(ctx context.Context, from Sources) (string, error) {
	switch r.kind {
	case kindEnv:
		lookup := from.LookupEnvFunc
		if lookup == nil {
			lookup = os.LookupEnv
		}
		text, ok := lookup(r.name)
		if !ok {
			return "", notFound("the variable %s is not set; set it before the start, or refer to another place", r.name)
		}
		return text, nil
	case kindFile:
		path := r.name
		if !filepath.IsAbs(path) {
			path = filepath.Join(cmp.Or(from.Dir, "."), path)
		}
		data, _, err := readPrivate(path, MaxValue)
		if parley.CodeOf(err) == parley.CodeNotFound {
			return "", notFound("the file %s, where a secret should be, does not exist; write the secret into it, readable by its owner alone", path)
		}
		text, ended := strings.CutSuffix(string(data), "\n")
		if ended {
			text = strings.TrimSuffix(text, "\r")
		}
		return text, err
	case kindKeyring:
		if from.KeyringFunc != nil {
			return from.KeyringFunc(ctx, r.name)
		}
		return item(ctx, systemRing, r.name)
	}
	return "", invalid("there is no reference to a secret here; give env:NAME, file:PATH or keyring:NAME")
}

// item gives an item of a keyring.
func item(ctx context.Context, from ring, name string) (string, error) {
	from.advice = adviceRefs
	text, found, err := from.item(ctx, name)
	if err == nil && !found {
		err = notFound("the system keyring has no item %s of the service %s; add it, or give env:NAME or file:PATH", name, service)
	}
	return text, err
}
