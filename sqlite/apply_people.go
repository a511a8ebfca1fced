package sqlite

import "github.com/parley-run/parley"

func (t *tx) applyPeople(b *parley.Batch) error {
	for i := range b.Users {
		if err := t.changeUser(&b.Users[i]); err != nil {
			return err
		}
	}
	for i := range b.Identities {
		if err := t.changeIdentity(&b.Identities[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) changeUser(c *parley.UserChange) error {
	if c.Remove {
		if err := t.c.exec(`UPDATE identities SET user = NULL WHERE user = ?`, c.User.ID); err != nil {
			return err
		}
		return t.c.exec(`DELETE FROM users WHERE id = ?`, c.User.ID)
	}
	return t.c.exec(`INSERT INTO users (id, name, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, role = excluded.role, created_at = excluded.created_at`,
		c.User.ID, c.User.Name, c.User.Role, c.User.CreatedAt)
}

func (t *tx) changeIdentity(c *parley.IdentityChange) error {
	i := &c.Identity
	if c.Remove {
		return t.c.exec(`DELETE FROM identities WHERE id = ?`, i.ID)
	}
	if i.User != "" {
		if known, err := t.c.exists(`SELECT 1 FROM users WHERE id = ?`, i.User); err != nil {
			return err
		} else if !known {
			return notFound("there is no user %q", i.User)
		}
	}
	return t.c.exec(`INSERT INTO identities (id, user, name, bot, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET user = excluded.user, name = excluded.name, bot = excluded.bot, created_at = excluded.created_at`,
		i.ID, orNull(i.User), i.Name, i.Bot, i.CreatedAt)
}
