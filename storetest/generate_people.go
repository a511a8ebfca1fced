package storetest

import (
	"maps"
	"slices"

	"github.com/parley-run/parley"
)

// people adds changes of users and identities.
func (g *generator) people(b *parley.Batch) {
	for g.chance(15) {
		u := parley.UserChange{User: parley.User{ID: pick(g, userIDs)}, Remove: g.chance(25)}
		if !u.Remove {
			u.User.Name = either(g, "", "Anna Ü")
			u.User.Role = either(g, parley.RoleOwner, parley.RoleUser, parley.RoleGuest)
			u.User.CreatedAt = g.moment()
		}
		b.Users = append(b.Users, u)
		g.ahead.changeUser(u)
	}
	for g.chance(20) {
		i := parley.IdentityChange{
			Identity: parley.Identity{
				ID: pick(g, identityIDs), Name: either(g, "", "anna@home"), Bot: g.chance(20), CreatedAt: g.moment(),
			},
			Remove: g.chance(20),
		}
		if there := slices.Sorted(maps.Keys(g.ahead.users)); len(there) > 0 && g.chance(70) {
			i.Identity.User = pick(g, there)
		}
		if g.slip() {
			i.Identity.User = pick(g, userIDs)
		}
		b.Identities = append(b.Identities, i)
		_ = g.ahead.changeIdentity(i)
	}
}
