package secret

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-run/parley"
)

// The limits of what a [Holder] holds.
const (
	KeySize = 32 // bytes of a key
	MaxKeys = 16 // keys, so that they fit into an item of every system's keyring
)

// Holder keeps the keys that unlock a store: a short list, the newest first.
// While keys are exchanged there are several, so that at any moment one of them
// fits. Holders may be used by several goroutines, but two that save at once
// overwrite each other.
type Holder interface {
	// Keys gives the keys, at least one. If there are none it is CodeNotFound; if
	// what is there is not a list of keys, or others can read it, CodeInvalid; if
	// it cannot be read, or not before ctx ends, CodeUnavailable.
	Keys(ctx context.Context) ([][]byte, error)

	// Save replaces the list by keys as a whole, whatever happens meanwhile. No
	// keys remove it; that there was none is no error. It refuses, with CodeInvalid,
	// keys that are none, and to replace what is not a list of keys. If
	// [parley.ErrOutcomeUnknown] is in the chain of an error, either list may be
	// there; after any other the old one is.
	Save(ctx context.Context, keys [][]byte) error

	// Name says where the keys are, for messages: "the key file /x", "the system
	// keyring".
	Name() string
}

// OpenKeys gives the holder that a configuration names: the item name of the
// system's keyring if where is "keyring", else the file where, which starts from
// the folder dir if it is relative. It does not look whether there are keys. No
// place, or a name that no item can have, is CodeInvalid.
func OpenKeys(where, dir, name string) (Holder, error) {
	switch {
	case where == "":
		return nil, invalid(`where are the keys? give "keyring" or the path of a key file`)
	case where == kindKeyring:
		return Keyring(name), checkItem(name)
	case filepath.IsAbs(where):
		return KeyFile(where), nil
	}
	return KeyFile(filepath.Join(dir, where)), nil
}

// maxKeyFile leaves room for comments.
const maxKeyFile = 16 * 1024

const keyFileHead = "# Keys of Parley, the newest first. Who has them can read the store;\n# without them nobody can. Keep a copy in a safe place.\n"

// formatKeys writes keys as parseKeys reads them.
func formatKeys(keys [][]byte) (string, error) {
	if len(keys) > MaxKeys {
		return "", invalid("there are %d keys, and at most %d can be held; drop the oldest", len(keys), MaxKeys)
	}
	var b strings.Builder
	b.WriteString(keyFileHead)
	for i, key := range keys {
		if len(key) != KeySize {
			return "", invalid("key %d has %d bytes; it must have %d", i+1, len(key), KeySize)
		}
		b.WriteString(hex.EncodeToString(key) + "\n")
	}
	return b.String(), nil
}

// parseKeys reads a list of keys: 64 hexadecimal digits a line. What follows a #
// is a comment. where is for messages.
func parseKeys(where, text string) ([][]byte, error) {
	var keys [][]byte
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		// The error is not passed on: it would have a part of the line.
		key, err := hex.DecodeString(line)
		if err != nil || len(key) != KeySize {
			return nil, invalid("%s: line %d is not a key of %d hexadecimal digits; is that a list of keys?", where, n, 2*KeySize)
		}
		if keys = append(keys, key); len(keys) > MaxKeys {
			return nil, invalid("%s has more than %d keys; remove the oldest, which are the last", where, MaxKeys)
		}
	}
	return keys, nil
}

// KeyFile keeps keys in a file: a line of 64 hexadecimal digits for each, and
// comments that start with #. It must be a plain file that only its owner can
// read, which is not checked on Windows. [Holder.Save] drops the comments, and
// keeps mode and owner. A link to the file stays a link.
func KeyFile(path string) Holder { return keyFile(path) }

type keyFile string

func (k keyFile) Name() string { return "the key file " + string(k) }

func (k keyFile) Keys(ctx context.Context) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, gaveUp("gave up before reading "+k.Name(), err)
	}
	keys, _, err := k.read()
	if parley.CodeOf(err) == parley.CodeNotFound {
		return nil, notFound("%s does not exist", k.Name())
	}
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, notFound("%s has no keys in it", k.Name())
	}
	return keys, nil
}

func (k keyFile) read() ([][]byte, fs.FileInfo, error) {
	data, info, err := readPrivate(string(k), maxKeyFile)
	if parley.CodeOf(err) == parley.CodeTooLarge {
		return nil, nil, invalid("%s has more than %d bytes; is that a list of keys?", k.Name(), maxKeyFile)
	}
	if err != nil {
		return nil, nil, err
	}
	keys, err := parseKeys(k.Name(), string(data))
	return keys, info, err
}

func (k keyFile) Save(ctx context.Context, keys [][]byte) error {
	text, err := formatKeys(keys)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return gaveUp("gave up before writing "+k.Name(), err)
	}
	path, err := filepath.EvalSymlinks(string(k))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(string(k)); err == nil {
			return invalid("%s is a link to a file that does not exist; make the file, or remove the link", string(k))
		}
		path, err = string(k), nil
	}
	if err != nil {
		return fileError(string(k), err)
	}
	_, old, err := k.read()
	missing := parley.CodeOf(err) == parley.CodeNotFound
	switch {
	case err != nil && !missing:
		return err
	case len(keys) > 0:
		return replaceFile(path, []byte(text), old)
	case missing:
		return nil
	}
	return removeFile(path)
}

// equalKeys reports whether two lists are the same.
func equalKeys(a, b [][]byte) bool {
	return len(a) == len(b) && bytes.Equal(bytes.Join(a, nil), bytes.Join(b, nil))
}
