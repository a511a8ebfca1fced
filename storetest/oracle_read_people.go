package storetest

import (
	"context"
	"maps"
	"slices"

	"github.com/parley-run/parley"
)

// User implements [parley.Store].
func (o *oracle) User(_ context.Context, id parley.UserID) (parley.User, error) {
	u, known := o.users[id]
	if !known {
		return parley.User{}, missing("user %s", id)
	}
	return u, nil
}

// Users implements [parley.Store].
func (o *oracle) Users(_ context.Context, after parley.UserID, limit int) ([]parley.User, error) {
	var list []parley.User
	for _, id := range slices.Sorted(maps.Keys(o.users)) {
		if id > after && len(list) < parley.PageSize(limit) {
			list = append(list, o.users[id])
		}
	}
	return list, nil
}

// Identity implements [parley.Store].
func (o *oracle) Identity(_ context.Context, id parley.IdentityID) (parley.Identity, error) {
	i, known := o.identities[id]
	if !known {
		return parley.Identity{}, missing("identity %s", id)
	}
	return i, nil
}

// Identities implements [parley.Store].
func (o *oracle) Identities(_ context.Context, user parley.UserID) ([]parley.Identity, error) {
	var list []parley.Identity
	for _, id := range slices.Sorted(maps.Keys(o.identities)) {
		if o.identities[id].User == user {
			list = append(list, o.identities[id])
		}
	}
	return list, nil
}

// AllIdentities implements [parley.Store].
func (o *oracle) AllIdentities(_ context.Context, after parley.IdentityID, limit int) ([]parley.Identity, error) {
	var list []parley.Identity
	for _, id := range slices.Sorted(maps.Keys(o.identities)) {
		if id > after && len(list) < parley.PageSize(limit) {
			list = append(list, o.identities[id])
		}
	}
	return list, nil
}
