package storetest

import (
	"context"

	"github.com/parley-run/parley"
)

var peopleTests = []test{
	{"users and identities are stored as they are given", func(f *fixture) {
		u := parley.User{ID: "anna", Name: "Anna Ü", Role: parley.RoleOwner, CreatedAt: startOfTime}
		i := parley.Identity{ID: anna, User: "anna", Name: "anna@home", Bot: true, CreatedAt: startOfTime}
		f.commit(parley.Batch{Users: []parley.UserChange{{User: u}}, Identities: []parley.IdentityChange{{Identity: i}}})
		got, err := f.store.User(f.Context(), "anna")
		f.code("User", "", err)
		f.equal("user", u, got)
		identity, err := f.store.Identity(f.Context(), anna)
		f.code("Identity", "", err)
		f.equal("identity", i, identity)
		u.Name, u.Role, i.User, i.Bot = "", parley.RoleGuest, "", false
		f.commit(parley.Batch{Users: []parley.UserChange{{User: u}}, Identities: []parley.IdentityChange{{Identity: i}}})
		got, _ = f.store.User(f.Context(), "anna")
		f.equal("changed user", u, got)
		identity, _ = f.store.Identity(f.Context(), anna)
		f.equal("changed identity", i, identity)
	}},
	{"removing a user leaves the identities with nobody", func(f *fixture) {
		f.commit(parley.Batch{
			Users: []parley.UserChange{{User: person("anna")}, {User: person("ben")}},
			Identities: []parley.IdentityChange{
				{Identity: parley.Identity{ID: anna, User: "anna", CreatedAt: startOfTime}},
				{Identity: parley.Identity{ID: ben, User: "ben", CreatedAt: startOfTime}},
			},
		})
		f.commit(parley.Batch{Users: []parley.UserChange{{User: parley.User{ID: "anna"}, Remove: true}}})
		_, err := f.store.User(f.Context(), "anna")
		f.code("User", parley.CodeNotFound, err)
		identity, err := f.store.Identity(f.Context(), anna)
		f.code("Identity", "", err)
		f.equal("identity", parley.Identity{ID: anna, CreatedAt: startOfTime}, identity)
		identity, err = f.store.Identity(f.Context(), ben)
		f.code("Identity", "", err)
		f.equal("identity of another", parley.UserID("ben"), identity.User)
	}},
	{"an identity belongs to a user who is there, or to nobody", func(f *fixture) {
		linked := parley.IdentityChange{Identity: parley.Identity{ID: anna, User: "anna", CreatedAt: startOfTime}}
		f.refuse(parley.CodeNotFound, parley.Batch{Identities: []parley.IdentityChange{linked}})
		f.commit(parley.Batch{Users: []parley.UserChange{{User: person("anna")}}, Identities: []parley.IdentityChange{linked}})
		f.refuse(parley.CodeNotFound, parley.Batch{
			Users: []parley.UserChange{{User: parley.User{ID: "anna"}, Remove: true}}, Identities: []parley.IdentityChange{linked},
		})
	}},
	{"what is not there can be removed", func(f *fixture) {
		unchanged := f.watch(parley.Batch{})
		f.commit(parley.Batch{
			Users:      []parley.UserChange{{User: parley.User{ID: "anna"}, Remove: true}},
			Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: anna}, Remove: true}},
		})
		unchanged()
		_, err := f.store.Identity(f.Context(), anna)
		f.code("Identity", parley.CodeNotFound, err)
	}},
	{"users come in pages by id, identities sorted", func(f *fixture) {
		var b parley.Batch
		for _, id := range []parley.UserID{"c", "B", "a", "é", "b"} {
			b.Users = append(b.Users, parley.UserChange{User: person(id)})
		}
		for _, id := range []parley.IdentityID{"web:b", "telegram:7", "web:B"} {
			b.Identities = append(b.Identities, parley.IdentityChange{
				Identity: parley.Identity{ID: id, User: "a", CreatedAt: startOfTime},
			})
		}
		f.commit(b)
		for _, limit := range []int{0, 1, 2} {
			users, err := allUsers(f.Context(), f.store, limit)
			f.code("Users", "", err)
			f.equal("users", []parley.User{person("B"), person("a"), person("b"), person("c"), person("é")}, users)
		}
		identities, err := f.store.Identities(f.Context(), "a")
		f.code("Identities", "", err)
		var ids []parley.IdentityID
		for _, i := range identities {
			ids = append(ids, i.ID)
		}
		f.equal("identities", []parley.IdentityID{"telegram:7", "web:B", "web:b"}, ids)
	}},
	{"identities come in pages by id, whosever they are", func(f *fixture) {
		f.commit(parley.Batch{Users: []parley.UserChange{{User: person("a")}}, Identities: []parley.IdentityChange{
			linked("web:b", "a"), linked("telegram:7", ""), linked("web:B", "a"), linked("web:é", ""),
		}})
		want := []parley.Identity{
			linked("telegram:7", "").Identity, linked("web:B", "a").Identity, linked("web:b", "a").Identity, linked("web:é", "").Identity,
		}
		for _, limit := range []int{0, 1, 2} {
			f.equal("identities", want, get(f, func(ctx context.Context, s parley.Store) ([]parley.Identity, error) {
				return allIdentities(ctx, s, limit)
			}))
		}
	}},
}

func person(id parley.UserID) parley.User {
	return parley.User{ID: id, Role: parley.RoleUser, CreatedAt: startOfTime}
}
