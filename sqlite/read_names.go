package sqlite

import (
	"context"
	"slices"

	"github.com/parley-run/parley"
)

// foundKey is a key as Lookup finds it.
type foundKey struct {
	name    parley.Key
	current parley.SessionID // empty: none
	scope   string
}

// findName finds a key by its name or an alias. Which of the two is looked for
// first is a matter of right and of cost: most names that are not of scopes are
// aliases.
func findName(c *conn, name string) (k foundKey, found bool, err error) {
	read := func(r row) {
		k = foundKey{name: parley.Key(r.text(0)), current: parley.SessionID(r.text(1)), scope: r.text(2)}
	}
	queries := []string{
		`SELECT k.key, ifnull(k.current, ''), ifnull(k.scope, '') FROM aliases a JOIN keys k ON k.nr = a.key WHERE a.alias = ?`,
		`SELECT key, ifnull(current, ''), ifnull(scope, '') FROM keys WHERE key = ?`,
	}
	if parley.Key(name).OfScope() {
		slices.Reverse(queries)
	}
	for _, sql := range queries {
		if found, err = c.one(read, sql, name); err != nil || found {
			break
		}
	}
	return k, found, err
}

// Lookup implements [parley.SessionReader].
func (s *Store) Lookup(ctx context.Context, v parley.Visibility, name string) (parley.KeyEntry, error) {
	var entry parley.KeyEntry
	err := s.read(ctx, "look up key", func(c *conn) error {
		k, found, err := findName(c, name)
		if err == nil && found {
			entry.Current = k.current
			found, err = keyVisible(c, v, k.current)
		}
		if err != nil {
			return err
		}
		if !found {
			return notFound("nothing is known as %q", name)
		}
		entry.Key = k.name
		return fromJSON(k.scope, &entry.Scope)
	})
	if err != nil {
		return parley.KeyEntry{}, err
	}
	return entry, nil
}

// Aliases implements [parley.SessionReader].
func (s *Store) Aliases(ctx context.Context, v parley.Visibility, key parley.Key) (list []parley.Alias, err error) {
	err = s.read(ctx, "read aliases", func(c *conn) error {
		list = nil
		var nr int64
		var current parley.SessionID
		found, err := c.one(func(r row) { nr, current = r.int(0), parley.SessionID(r.text(1)) },
			`SELECT nr, ifnull(current, '') FROM keys WHERE key = ?`, key)
		if err == nil && found {
			found, err = keyVisible(c, v, current)
		}
		if err != nil {
			return err
		}
		if !found {
			return notFound("there is no key %q", key)
		}
		return c.each(func(r row) error {
			list = append(list, parley.Alias(r.text(0)))
			return nil
		}, `SELECT alias FROM aliases WHERE key = ? ORDER BY alias`, nr)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
