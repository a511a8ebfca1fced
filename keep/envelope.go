package keep

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/parley-run/parley"
)

// keyBytes is the length of all keys.
const keyBytes = 32

// Keys holds the keys that open envelopes: a short list, the newest first.
type Keys interface {
	// Keys gives the list, or [parley.CodeNotFound] if there is none.
	Keys(ctx context.Context) ([][]byte, error)
	// Save replaces the list, all of it or nothing.
	Save(ctx context.Context, keys [][]byte) error
	// Name says in words where the keys are.
	Name() string
}

// envelope is a file with the data key of a store, sealed with one of the keys.
type envelope struct {
	Version int    `json:"version"`
	Cipher  string `json:"cipher"` // of the store
	Seal    string `json:"seal"`   // of the envelope
	Keys    string `json:"keys"`   // the name of the keys, where a place has several
	Nonce   []byte `json:"nonce"`
	Sealed  []byte `json:"sealed"`
}

const (
	envelopeVersion = 1
	envelopeCipher  = "adiantum"
	envelopeSeal    = "aes-256-gcm"
)

// bound is what a seal also vouches for.
func (e envelope) bound() []byte {
	return fmt.Appendf(nil, "parley envelope %d %s %s", e.Version, e.Cipher, e.Keys)
}

// sealer gives the cipher of envelopes.
func sealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal puts a data key into an envelope. The key is one of those of that name.
func seal(name string, key, data []byte) ([]byte, error) {
	aead, err := sealer(key)
	if err != nil {
		return nil, err
	}
	e := envelope{Version: envelopeVersion, Cipher: envelopeCipher, Seal: envelopeSeal, Keys: name, Nonce: make([]byte, aead.NonceSize())}
	_, _ = rand.Read(e.Nonce) // it never fails
	e.Sealed = aead.Seal(nil, e.Nonce, data, e.bound())
	return json.MarshalIndent(e, "", "  ")
}

// readEnvelope reads the envelope at path. None is [parley.CodeNotFound].
func readEnvelope(path string) (e envelope, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return e, parley.Errorf(parley.CodeNotFound, "the envelope %s with the key of the store is missing; restore it from a backup", path)
	}
	if err != nil {
		return e, parley.Errorf(parley.CodeUnavailable, "cannot read the envelope of the store's key: %v", err)
	}
	return parseEnvelope(path, text)
}

func parseEnvelope(path string, text []byte) (e envelope, err error) {
	if err := json.Unmarshal(text, &e); err != nil {
		return e, parley.Errorf(parley.CodeInvalid, "the envelope of the store's key (%s) is damaged; restore it from a backup", path)
	}
	if e.Version != envelopeVersion || e.Cipher != envelopeCipher || e.Seal != envelopeSeal {
		return e, parley.Errorf(parley.CodeInvalid, "the envelope of the store's key (%s) was written by a newer Parley; use that one", path)
	}
	return e, nil
}

// open gives the data key, if one of the keys fits.
func (e envelope) open(ctx context.Context, keys Keys) ([]byte, error) {
	list, err := keys.Keys(ctx)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, parley.Errorf(parley.CodeUnavailable,
			"the store is encrypted, and there is no key in %s; say where it is with --key, or put it back", keys.Name())
	}
	if err != nil {
		return nil, fmt.Errorf("the store is encrypted, and its key cannot be had: %w", err)
	}
	for _, key := range list {
		aead, err := sealer(key)
		if err != nil {
			return nil, parley.Errorf(parley.CodeInvalid, "%s has a key that is not %d bytes long", keys.Name(), keyBytes)
		}
		if len(e.Nonce) != aead.NonceSize() {
			break
		}
		if data, err := aead.Open(nil, e.Nonce, e.Sealed, e.bound()); err == nil && len(data) == keyBytes {
			return data, nil
		}
	}
	return nil, parley.Errorf(parley.CodeInvalid, "no key in %s opens the store; say with --key where the right one is", keys.Name())
}

// newKey makes a key.
func newKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	return key
}
