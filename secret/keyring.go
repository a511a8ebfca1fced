package secret

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"

	"github.com/parley-run/parley"
)

// service is what all items of Parley in a keyring are under.
const service = "parley"

// ring is a system's keyring.
type ring struct {
	readyFunc  func() error // whether there is one to be asked
	getFunc    func(service, name string) (string, error)
	setFunc    func(service, name, text string) error
	deleteFunc func(service, name string) error
	advice     string // what to do where there is none
}

// What to do without a keyring.
const (
	adviceKeys = "where there is none, use a key file: --key FILE"
	adviceRefs = "where there is none, give env:NAME or file:PATH"
)

var systemRing = ring{readyFunc: sessionBus, getFunc: keyring.Get, setFunc: keyring.Set, deleteFunc: keyring.Delete}

// turn is held by who asks the system's keyring. The library has one connection
// for the whole process, and confuses the answers to two prompts at once.
var turn = make(chan struct{}, 1)

// ask runs f, which may hang until a person has answered a prompt. If ctx ends
// before that, f goes on alone.
func (r ring) ask(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return gaveUp("gave up before asking the system keyring", err)
	}
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return gaveUp("gave up waiting for an earlier question to the system keyring", ctx.Err())
	}
	answer := make(chan error, 1)
	go func() {
		defer func() { <-turn }()
		err := r.readyFunc()
		if err == nil {
			err = f()
		}
		answer <- err
	}()
	select {
	case err := <-answer:
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return gaveUp("the system keyring cannot be used; "+r.advice, err)
		}
		return err
	case <-ctx.Done():
		return gaveUp("gave up waiting for the system keyring, which may be asking for its password; "+r.advice, ctx.Err())
	}
}

func (r ring) item(ctx context.Context, name string) (text string, found bool, err error) {
	if err := checkItem(name); err != nil {
		return "", false, err
	}
	// What a goroutine that is left behind writes must not be read here.
	result := make(chan string, 1)
	err = r.ask(ctx, func() error {
		text, err := r.getFunc(service, name)
		result <- text
		return err
	})
	if errors.Is(err, keyring.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return <-result, true, nil
}

// Keyring keeps keys in one item of the system's keyring: the Secret Service of
// a Linux desktop, the Keychain of macOS, the Credential Manager of Windows. The
// item is of the service "parley" and has the text of a key file.
//
// The system may ask a person for a password, and the methods wait for the
// answer until ctx ends. Where there is no keyring, as on most servers and in
// containers, they give CodeUnavailable and advise a key file.
func Keyring(name string) Holder { return newRingKeys(name, systemRing) }

func newRingKeys(name string, r ring) ringKeys {
	r.advice = adviceKeys
	return ringKeys{name: name, ring: r}
}

type ringKeys struct {
	name string
	ring ring
}

func (k ringKeys) Name() string { return "the system keyring" }

func (k ringKeys) Keys(ctx context.Context) ([][]byte, error) {
	keys, err := k.read(ctx)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, notFound("%s has no keys in an item %s of the service %s", k.Name(), k.name, service)
	}
	return keys, nil
}

// read gives no keys if there is no item.
func (k ringKeys) read(ctx context.Context) ([][]byte, error) {
	text, _, err := k.ring.item(ctx, k.name)
	if err != nil {
		return nil, err
	}
	return parseKeys("the item "+k.name+" of "+k.Name(), text)
}

func (k ringKeys) Save(ctx context.Context, keys [][]byte) error {
	text, err := formatKeys(keys)
	if err != nil {
		return err
	}
	before, err := k.read(ctx)
	if err != nil {
		return err
	}
	err = k.ring.ask(ctx, func() error {
		if len(keys) > 0 {
			return k.ring.setFunc(service, k.name, text)
		}
		return k.ring.deleteFunc(service, k.name)
	})
	if err != nil && (len(keys) > 0 || !errors.Is(err, keyring.ErrNotFound)) {
		return k.unconfirmed(err)
	}
	// Some keyrings report success when a person has dismissed the prompt.
	after, err := k.read(ctx)
	switch {
	case err != nil:
		return k.unconfirmed(err)
	case equalKeys(after, keys):
		return nil
	case equalKeys(after, before):
		return gaveUp(k.Name()+" did not take the change; try again, and confirm it if the system asks", nil)
	}
	return k.unconfirmed(errors.New("there is something else in it"))
}

func (k ringKeys) unconfirmed(cause error) error {
	return gaveUp("cannot confirm the change of the keys in "+k.Name(), fmt.Errorf("%w: %w", parley.ErrOutcomeUnknown, cause))
}
