package secret_test

import (
	"context"
	"errors"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
)

// memoryRing is a keyring in memory.
func memoryRing() (secret.FakeRing, map[string]string) {
	items := make(map[string]string)
	return secret.FakeRing{
		ReadyFunc: func() error { return nil },
		GetFunc: func(service, name string) (string, error) {
			text, ok := items[service+"/"+name]
			if !ok {
				return "", keyring.ErrNotFound
			}
			return text, nil
		},
		SetFunc: func(service, name, text string) error {
			items[service+"/"+name] = text
			return nil
		},
		DeleteFunc: func(service, name string) error {
			if _, ok := items[service+"/"+name]; !ok {
				return keyring.ErrNotFound
			}
			delete(items, service+"/"+name)
			return nil
		},
	}, items
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	ring, items := memoryRing()
	h := secret.KeyringOf(ring, "main")
	if h.Name() != "the system keyring" {
		t.Errorf("its name is %q", h.Name())
	}
	holderPromises(t, h)
	if len(items) != 0 {
		t.Errorf("left behind: %q", items)
	}
	if err := h.Save(t.Context(), [][]byte{key(1)}); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, secret.KeyringOf(ring, "other"))
	if keys, err := secret.ParseKeys(items["parley/main"]); err != nil || len(keys) != 1 {
		t.Errorf("the item has no list of keys: %v", err)
	}

	items["parley/main"] = sample
	_, err := h.Keys(t.Context())
	wantCode(t, err, parley.CodeInvalid)
	wantCode(t, h.Save(t.Context(), [][]byte{key(1)}), parley.CodeInvalid)
	wantCode(t, h.Save(t.Context(), nil), parley.CodeInvalid)
	if items["parley/main"] != sample {
		t.Error("what is not a list of keys was replaced")
	}
	_, err = secret.KeyringOf(ring, "a b").Keys(t.Context())
	wantCode(t, err, parley.CodeInvalid)
}

// TestKeyringOfLibrary goes through the library, which has a keyring in memory
// for tests. It is the only test that changes the library's state.
func TestKeyringOfLibrary(t *testing.T) {
	t.Parallel()
	keyring.MockInit()
	holderPromises(t, secret.KeyringOf(secret.FakeRing{
		ReadyFunc: func() error { return nil }, GetFunc: keyring.Get, SetFunc: keyring.Set, DeleteFunc: keyring.Delete,
	}, "main"))
}

func TestKeyringFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the service is away")
	tests := []struct {
		name    string
		change  func(ring *secret.FakeRing, items map[string]string)
		code    parley.Code // of saving
		unknown bool
		reads   bool // whether the keys can be read
		says    string
	}{
		{
			name:   "no keyring",
			change: func(r *secret.FakeRing, _ map[string]string) { r.ReadyFunc = func() error { return broken } },
			code:   parley.CodeUnavailable, says: "use a key file: --key FILE",
		},
		{
			name: "cannot read",
			change: func(r *secret.FakeRing, _ map[string]string) {
				r.GetFunc = func(string, string) (string, error) { return "", broken }
			},
			code: parley.CodeUnavailable, says: "use a key file: --key FILE",
		},
		{
			name: "cannot write",
			change: func(r *secret.FakeRing, _ map[string]string) {
				r.SetFunc = func(string, string, string) error { return broken }
			},
			code: parley.CodeUnavailable, unknown: true, reads: true, says: broken.Error(),
		},
		{
			name: "says it has written",
			change: func(r *secret.FakeRing, _ map[string]string) {
				r.SetFunc = func(string, string, string) error { return nil }
			},
			code: parley.CodeUnavailable, reads: true, says: "did not take the change",
		},
		{
			name: "writes something else",
			change: func(r *secret.FakeRing, items map[string]string) {
				r.SetFunc = func(_, _, _ string) error {
					items["parley/main"], _ = secret.FormatKeys([][]byte{key(7)})
					return nil
				}
			},
			code: parley.CodeUnavailable, unknown: true, reads: true, says: "something else",
		},
		{
			name: "writes what cannot be read",
			change: func(r *secret.FakeRing, items map[string]string) {
				r.SetFunc = func(_, _, _ string) error {
					items["parley/main"] = sample
					return nil
				}
			},
			code: parley.CodeUnavailable, unknown: true, reads: true, says: "line 1 is not a key",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ring, items := memoryRing()
			before, err := secret.FormatKeys([][]byte{key(5)})
			if err != nil {
				t.Fatal(err)
			}
			items["parley/main"] = before
			test.change(&ring, items)
			h := secret.KeyringOf(ring, "main")
			_, err = h.Keys(t.Context())
			if test.reads != (err == nil) {
				t.Errorf("reading: %v", err)
			}
			if err != nil {
				wantCode(t, err, parley.CodeUnavailable)
				wantText(t, err, test.says)
			}
			err = h.Save(t.Context(), [][]byte{key(6)})
			wantCode(t, err, test.code)
			wantText(t, err, test.says)
			if errors.Is(err, parley.ErrOutcomeUnknown) != test.unknown {
				t.Errorf("whether the outcome is known: %v", err)
			}
			if !test.unknown && items["parley/main"] != before {
				t.Error("the keys were changed")
			}
		})
	}
}

func TestResolveKeyring(t *testing.T) {
	t.Parallel()
	ring, items := memoryRing()
	items["parley/telegram"] = sample
	items["parley/empty"] = ""
	items["other/token"] = sample
	from := secret.Sources{KeyringFunc: secret.ItemOf(ring)}
	resolve(t, "keyring:telegram", from, "", "")
	resolve(t, "keyring:empty", from, parley.CodeNotFound, "keyring:empty is empty")
	resolve(t, "keyring:token", from, parley.CodeNotFound, "no item token of the service parley")
	ring.ReadyFunc = func() error { return errors.New("no bus") }
	resolve(t, "keyring:telegram", secret.Sources{KeyringFunc: secret.ItemOf(ring)}, parley.CodeUnavailable, "give env:NAME or file:PATH")
}

// TestKeyringHangs has a keyring that waits for a person. Not parallel: while it
// hangs, nobody else can ask.
func TestKeyringHangs(t *testing.T) {
	ring, items := memoryRing()
	asked, answer := make(chan struct{}), make(chan struct{})
	set := ring.SetFunc
	ring.SetFunc = func(service, name, text string) error {
		close(asked)
		<-answer
		return set(service, name, text)
	}
	h := secret.KeyringOf(ring, "main")

	ctx, cancel := context.WithCancel(t.Context())
	saved := make(chan error)
	go func() { saved <- h.Save(ctx, [][]byte{key(1)}) }()
	<-asked
	// Who comes meanwhile waits as well, and may give up, too.
	waiting, stop := context.WithCancel(t.Context())
	read := make(chan error)
	go func() {
		_, err := h.Keys(waiting)
		read <- err
	}()
	stop()
	err := <-read
	wantCode(t, err, parley.CodeUnavailable)
	cancel()
	err = <-saved
	wantCode(t, err, parley.CodeUnavailable)
	wantText(t, err, "may be asking for its password", "--key FILE")
	if !errors.Is(err, parley.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("the outcome is not unknown: %v", err)
	}

	// The person answers after all, and the next one reads what was saved.
	close(answer)
	wantKeys(t, h, key(1))
	if len(items) != 1 {
		t.Errorf("got %d items", len(items))
	}
}
