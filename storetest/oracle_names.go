package storetest

import "github.com/parley-run/parley"

func (o *oracle) changeKey(c parley.KeyChange) error {
	if c.Session != "" {
		if _, err := o.session(c.Session); err != nil {
			return err
		}
	}
	k := o.keys[c.Key]
	k.current = c.Session
	if c.Scope != nil {
		k.scope = c.Scope
	}
	o.keys[c.Key] = k
	return nil
}

func (o *oracle) changeAlias(c parley.AliasChange) (*parley.AliasClash, error) {
	if c.Key == "" {
		delete(o.aliases, c.Alias)
		return nil, nil
	}
	if _, known := o.keys[c.Key]; !known {
		return nil, missing("key %s", c.Key)
	}
	owner, taken := o.aliases[c.Alias]
	if taken && owner != c.Key {
		return &parley.AliasClash{Alias: c.Alias, Owner: owner}, nil
	}
	o.aliases[c.Alias] = c.Key
	return nil, nil
}
