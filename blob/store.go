package blob

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// Defaults of [Config].
const (
	DefaultLimit   = 25 << 20
	DefaultKeepFor = 24 * time.Hour
)

// Index is the part of a [parley.Store] that knows which blobs there are and who
// refers to them.
type Index interface {
	Commit(ctx context.Context, b parley.Batch) (parley.Result, error)
	parley.BlobReader
}

// Config of a [Store].
type Config struct {
	// Key names blobs: a handle is the HMAC-SHA-256 of the content under it. It
	// has at least 16 bytes and stays the same for the life of the store; under
	// another one, what was stored is still read, but stored again by another
	// name. Without a key nothing can be put, and nothing be compared with its
	// name.
	Key []byte
	// Secret encrypts files. It has 32 bytes, or is nil for files as they are.
	Secret []byte
	// Limit is the size of the largest blob, in bytes; 0 means 25 MiB.
	Limit int64
	// KeepFor is how long a blob is kept that nothing refers to, and a file that
	// was left behind; 0 means a day. It has to be longer than anybody takes from
	// putting a blob to the event that names it.
	KeepFor time.Duration
	// Clock gives the time; nil is the system's.
	Clock parley.Clock
}

// Store keeps media in a folder.
type Store struct {
	dir   string
	index Index
	cfg   Config
	locks locks

	sweep sync.Mutex // one sweep at a time
	next  int        // the folder where it goes on

	mu     sync.Mutex
	synced map[string]bool // folders whose name is durable
	drafts map[string]bool // temporary files in use
}

// New gives the media in a folder, which is made when the first blob is put. Only
// one Store of a folder may put and sweep at a time. A configuration that cannot
// work is [parley.CodeInvalid].
func New(dir string, index Index, cfg Config) (*Store, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, &parley.Error{Code: parley.CodeInvalid, Op: "open media", Err: err}
	}
	if cfg.Limit == 0 {
		cfg.Limit = DefaultLimit
	}
	if cfg.KeepFor == 0 {
		cfg.KeepFor = DefaultKeepFor
	}
	return &Store{dir: dir, index: index, cfg: cfg, synced: map[string]bool{}, drafts: map[string]bool{}}, nil
}

const (
	leastKeyBytes = 16
	secretBytes   = 32
)

func (c *Config) validate() error {
	switch {
	case len(c.Key) > 0 && len(c.Key) < leastKeyBytes:
		return parley.Errorf(parley.CodeInvalid, "the key that names media has %d bytes; it needs at least %d", len(c.Key), leastKeyBytes)
	case len(c.Secret) > 0 && len(c.Secret) != secretBytes:
		return parley.Errorf(parley.CodeInvalid, "the secret that encrypts media has %d bytes; it needs %d", len(c.Secret), secretBytes)
	case c.Limit < 0:
		return parley.Errorf(parley.CodeInvalid, "the size limit of media must not be negative")
	case c.KeepFor < 0:
		return parley.Errorf(parley.CodeInvalid, "the time to keep unused media must not be negative")
	}
	return nil
}

func (s *Store) now() time.Time {
	if s.cfg.Clock == nil {
		return time.Now()
	}
	return s.cfg.Clock.Now()
}

func (s *Store) encrypted() bool { return len(s.cfg.Secret) > 0 }

// A handle is handlePrefix and the hash in hex; its file is called by the hash,
// the first two digits being the folder.
const (
	handlePrefix = "blob_"
	hashDigits   = 64
	folderDigits = 2
	folders      = 256
)

func handleOf(hash []byte) parley.BlobHandle {
	return parley.BlobHandle(handlePrefix + hex.EncodeToString(hash))
}

// place gives the folder and the name of a blob's file. A handle of another form
// has none.
func place(handle parley.BlobHandle) (folder, name string, ok bool) {
	digits, ok := strings.CutPrefix(string(handle), handlePrefix)
	if !ok || len(digits) != hashDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", "", false
	}
	return digits[:folderDigits], digits[folderDigits:], true
}

// path gives the path of a blob's file.
func (s *Store) path(handle parley.BlobHandle) (path string, ok bool) {
	folder, name, ok := place(handle)
	return filepath.Join(s.dir, folder, name), ok
}
