package storetest

import (
	"maps"
	"slices"

	"github.com/parley-run/parley"
)

// names adds changes of keys and aliases.
func (g *generator) names(b *parley.Batch) {
	for g.chance(20) {
		k := parley.KeyChange{Key: pick(g, keyNames), Scope: maybe(g, 50, g.scope)}
		if there := slices.Sorted(maps.Keys(g.ahead.sessions)); len(there) > 0 && g.chance(85) {
			k.Session = pick(g, there)
		}
		if g.slip() {
			k.Session = either(g, nobody, pick(g, sessionIDs))
		}
		b.Keys = append(b.Keys, k)
		_ = g.ahead.changeKey(k)
	}
	for g.chance(25) {
		a := parley.AliasChange{Alias: pick(g, aliasNames)}
		known := slices.Sorted(maps.Keys(g.ahead.keys))
		if len(known) > 0 && g.chance(80) {
			a.Key = pick(g, known)
		}
		if g.slip() {
			a.Key = pick(g, keyNames)
		}
		b.Aliases = append(b.Aliases, a)
		_, _ = g.ahead.changeAlias(a)
	}
}

func (g *generator) scope() parley.Scope {
	return parley.Scope{
		Version: 1, Agent: "helper", Channel: either(g, "telegram", "web"), Account: "main",
		Dimensions: []parley.Dimension{parley.DimensionChat, parley.DimensionTopic},
		Values:     map[parley.Dimension]string{parley.DimensionChat: "-100 7", parley.DimensionTopic: g.fresh("topic ")},
	}
}

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

// blobs adds changes of blobs. The size of one follows from its handle, as it
// does where content is named by a hash; a slip gives another.
func (g *generator) blobs(b *parley.Batch) {
	for g.chance(30) {
		i := g.IntN(len(blobHandles))
		c := parley.BlobChange{Handle: blobHandles[i], Remove: g.chance(25)}
		if c.Remove {
			if g.chance(50) {
				c.UnusedBefore = g.moment()
			}
		} else {
			c.Type, c.Size = either(g, "image/png", "audio/ogg"), int64(i)+1
			if g.slip() {
				c.Size = 100
			}
		}
		// What would be refused takes the rest of the batch with it.
		if err := g.ahead.changeBlob(g.now, c); err == nil || g.chance(10) {
			b.Blobs = append(b.Blobs, c)
		}
	}
}
