package secret

import "context"

// FakeRing is a keyring for tests.
type FakeRing struct {
	ReadyFunc  func() error
	GetFunc    func(service, name string) (string, error)
	SetFunc    func(service, name, text string) error
	DeleteFunc func(service, name string) error
}

func (f FakeRing) ring() ring {
	return ring{readyFunc: f.ReadyFunc, getFunc: f.GetFunc, setFunc: f.SetFunc, deleteFunc: f.DeleteFunc}
}

// KeyringOf is [Keyring] with a keyring of its own.
func KeyringOf(f FakeRing, name string) Holder { return newRingKeys(name, f.ring()) }

// ItemOf is how a reference looks into a keyring of its own.
func ItemOf(f FakeRing) func(ctx context.Context, name string) (string, error) {
	return func(ctx context.Context, name string) (string, error) { return item(ctx, f.ring(), name) }
}

// ParseKeys reads what a key file has in it.
func ParseKeys(text string) ([][]byte, error) { return parseKeys("the text", text) }

// FormatKeys writes what a key file has in it.
func FormatKeys(keys [][]byte) (string, error) { return formatKeys(keys) }

// Forms gives the texts that a value is looked for by.
func Forms(text string) []string { return forms(text) }
