package storetest

import "github.com/parley-run/parley"

// changeUser stores or removes a user. The identities of one who goes belong to
// nobody.
func (o *oracle) changeUser(c parley.UserChange) {
	if !c.Remove {
		o.users[c.User.ID] = c.User
		return
	}
	delete(o.users, c.User.ID)
	for id, identity := range o.identities {
		if identity.User == c.User.ID {
			identity.User = ""
			o.identities[id] = identity
		}
	}
}

// changeIdentity stores or removes an identity. It can only belong to a user who
// is there.
func (o *oracle) changeIdentity(c parley.IdentityChange) error {
	if c.Remove {
		delete(o.identities, c.Identity.ID)
		return nil
	}
	if _, known := o.users[c.Identity.User]; c.Identity.User != "" && !known {
		return missing("user %s", c.Identity.User)
	}
	o.identities[c.Identity.ID] = c.Identity
	return nil
}
