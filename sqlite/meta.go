package sqlite

import (
	"context"
	"crypto/rand"
)

// Secret gives a key that belongs to this store and this purpose. It is made from
// one that lies in the store, so it is as secret as the store itself.
func (s *Store) Secret(ctx context.Context, purpose string) (key []byte, err error) {
	var root []byte
	err = s.read(ctx, "read secret", func(c *conn) error {
		_, err := c.one(func(r row) { root = r.blob(0) }, `SELECT value FROM meta WHERE name = 'secret'`)
		return err
	})
	if err != nil {
		return nil, err
	}
	key, err = deriveKey(root, purpose)
	return key, translate("read secret", err)
}

// BeginEpoch starts a new life of the store; see [parley.Head].
func (s *Store) BeginEpoch(ctx context.Context) error {
	return s.writer.submit(ctx, &request{apply: func(t *tx) error {
		t.wrote = true
		return t.c.exec(`INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, rand.Text())
	}})
}
