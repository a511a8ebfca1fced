package sqlite

import "github.com/parley-run/parley"

// ensureKey gives the number of a key, and makes the key known if it is not.
func (t *tx) ensureKey(key parley.Key) (int64, error) {
	nr, found, err := t.findKey(key)
	if err != nil || found {
		return nr, err
	}
	err = t.c.exec(`INSERT INTO keys (key) VALUES (?)`, key)
	return t.c.db.LastInsertRowID(), err
}

func (t *tx) findKey(key parley.Key) (nr int64, found bool, err error) {
	found, err = t.c.one(func(r row) { nr = r.int(0) }, `SELECT nr FROM keys WHERE key = ?`, key)
	return nr, found, err
}

// pointKey makes a session the current one of a key.
func (t *tx) pointKey(c *parley.KeyChange) error {
	t.forget = true
	nr, err := t.ensureKey(c.Key)
	if err != nil {
		return err
	}
	if c.Session != "" {
		if _, err := t.head(c.Session); err != nil {
			return err
		}
	}
	if err := t.c.exec(`UPDATE keys SET current = ? WHERE nr = ?`, orNull(c.Session), nr); err != nil || c.Scope == nil {
		return err
	}
	scope, err := toJSON(c.Scope)
	if err != nil {
		return err
	}
	return t.c.exec(`UPDATE keys SET scope = ? WHERE nr = ?`, scope, nr)
}

// claimAlias gives a free alias to a key, or releases it.
func (t *tx) claimAlias(a parley.AliasChange) error {
	if a.Key == "" {
		return t.c.exec(`DELETE FROM aliases WHERE alias = ?`, a.Alias)
	}
	nr, found, err := t.findKey(a.Key)
	if err != nil {
		return err
	}
	if !found {
		return notFound("there is no key %q for alias %q", a.Key, a.Alias)
	}
	claimed, err := t.c.changed(`INSERT INTO aliases (alias, key) VALUES (?, ?) ON CONFLICT DO NOTHING`, a.Alias, nr)
	if err != nil || claimed {
		return err
	}
	owner, err := textOf[parley.Key](t.c, `SELECT k.key FROM aliases a JOIN keys k ON k.nr = a.key WHERE a.alias = ?`, a.Alias)
	if err == nil && owner != a.Key {
		t.result.Clashes = append(t.result.Clashes, parley.AliasClash{Alias: a.Alias, Owner: owner})
	}
	return err
}

// dropKey removes a key that no session has and that leads to none, with its
// aliases.
func (t *tx) dropKey(key parley.Key) error {
	used, err := t.c.exists(`SELECT 1 FROM sessions WHERE key = ? UNION ALL SELECT 1 FROM keys WHERE key = ? AND current IS NOT NULL`, key, key)
	if err != nil || used {
		return err
	}
	nr, found, err := t.findKey(key)
	if err != nil || !found {
		return err
	}
	if err := t.c.exec(`DELETE FROM aliases WHERE key = ?`, nr); err != nil {
		return err
	}
	return t.c.exec(`DELETE FROM keys WHERE nr = ?`, nr)
}
