package sqlite

import "context"

// WithVFS opens the store's files through a registered VFS.
func WithVFS(cfg Config, name string) Config {
	cfg.vfs = name
	return cfg
}

// WithSynchronous opens the store with another synchronous mode than FULL.
func WithSynchronous(cfg Config, mode string) Config {
	cfg.synchronous = mode
	return cfg
}

// NewestVersion is the version of the schema.
func NewestVersion() int { return newest() }

// MigrateTo moves the schema of an open store, up or down.
func MigrateTo(ctx context.Context, s *Store, version int) error {
	from, err := readVersion(s.path, s.writer.conn)
	if err != nil {
		return err
	}
	return migrate(ctx, s.writer.conn, from, version)
}
