package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// tokenFor makes a token of a person, with one of the hashes.
func tokenFor(id parley.TokenID, hash int, of parley.IdentityID) parley.TokenChange {
	return parley.TokenChange{New: &parley.Token{
		ID: id, Kind: parley.TokenUser, Hash: hashes[hash], Identity: of, CreatedAt: startOfTime,
	}}
}

// oneOfEach makes a token of each kind, with every field that it may have.
func oneOfEach() []parley.Token {
	list := []parley.Token{
		{ID: "t-owner", Kind: parley.TokenOwner, Identity: anna},
		{ID: "t-user", Kind: parley.TokenUser, Identity: anna},
		{ID: "t-device", Kind: parley.TokenDevice, Identity: ben},
		{ID: "t-channel", Kind: parley.TokenChannel, Identity: ben, Namespace: "discord"},
		{ID: "t-join", Kind: parley.TokenJoin, Agent: "helper"},
	}
	for i := range list {
		list[i].Hash, list[i].Name, list[i].CreatedAt = hashes[i], "Anna's \"Ü\"", startOfTime
		list[i].ExpiresAt, list[i].LastUsedAt = startOfTime.Add(time.Hour), startOfTime.Add(time.Microsecond)
	}
	list[2].RevokedAt = startOfTime.Add(time.Minute)
	return list
}

func (f *fixture) tokens(changes ...parley.TokenChange) {
	f.Helper()
	f.commit(parley.Batch{Tokens: changes})
}

func (f *fixture) refuseToken(code parley.Code, changes ...parley.TokenChange) {
	f.Helper()
	f.refuse(code, parley.Batch{Tokens: changes})
}

// tokenOf gives the token with a hash.
func (f *fixture) tokenOf(hash int) parley.Token {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) (parley.Token, error) {
		return s.TokenByHash(ctx, hashes[hash])
	})
}

func (f *fixture) tokenIDs(of parley.IdentityID, limit int) []parley.TokenID {
	f.Helper()
	var ids []parley.TokenID
	for _, t := range get(f, func(ctx context.Context, s parley.Store) ([]parley.Token, error) { return allTokens(ctx, s, of, limit) }) {
		ids = append(ids, t.ID)
	}
	return ids
}

var tokenTests = []test{
	{"tokens are stored as they are given", func(f *fixture) {
		for i, want := range oneOfEach() {
			f.tokens(parley.TokenChange{New: &want})
			f.equal("token", want, f.tokenOf(i))
		}
		small := parley.Token{ID: "small", Kind: parley.TokenUser, Hash: hashes[6], Identity: ben}
		f.tokens(parley.TokenChange{New: &small})
		f.equal("token without times", small, f.tokenOf(6))
		f.reopen()
		f.equal("token after a reopen", oneOfEach()[4], f.tokenOf(4))
	}},
	{"an id or a hash is taken once", func(f *fixture) {
		f.tokens(tokenFor("one", 0, anna))
		f.refuseToken(parley.CodeConflict, tokenFor("one", 1, anna))
		f.refuseToken(parley.CodeConflict, tokenFor("two", 0, anna))
		f.refuseToken(parley.CodeConflict, tokenFor("two", 0, ben))
		f.refuseToken(parley.CodeConflict, tokenFor("two", 1, anna), tokenFor("two", 2, anna))
		f.refuseToken(parley.CodeConflict, tokenFor("two", 1, anna), tokenFor("three", 1, anna))
		f.tokens(parley.TokenChange{ID: "one", Revoke: true})
		f.refuseToken(parley.CodeConflict, tokenFor("two", 0, anna))
		f.tokens(parley.TokenChange{ID: "one", Remove: true}, tokenFor("one", 1, ben), tokenFor("two", 0, anna))
		f.equal("token of the hash that was freed", parley.TokenID("two"), f.tokenOf(0).ID)
		f.equal("token of the id that was freed", ben, f.tokenOf(1).Identity)
	}},
	{"a revocation keeps its first instant", func(f *fixture) {
		f.tokens(tokenFor("one", 0, anna), tokenFor("two", 1, anna))
		f.tokens(parley.TokenChange{ID: "one", Revoke: true})
		first := f.now
		f.equal("revoked", first, f.tokenOf(0).RevokedAt)
		f.tokens(parley.TokenChange{ID: "one", Revoke: true}, parley.TokenChange{ID: "one"})
		f.tokens(parley.TokenChange{ID: "one", Used: startOfTime.Add(time.Hour)})
		f.commit(parley.Batch{At: startOfTime.Add(-time.Hour), Tokens: []parley.TokenChange{{ID: "one", Revoke: true}}})
		f.equal("revoked again", first, f.tokenOf(0).RevokedAt)
		f.equal("another", time.Time{}, f.tokenOf(1).RevokedAt)
	}},
	{"the last use only rises", func(f *fixture) {
		f.tokens(tokenFor("one", 0, anna), tokenFor("two", 1, anna))
		for _, c := range []struct{ used, want int }{{5, 5}, {3, 5}, {5, 5}, {6, 6}, {-1, 6}} {
			f.tokens(parley.TokenChange{ID: "one", Used: startOfTime.Add(time.Duration(c.used) * time.Microsecond)})
			f.equal("last use", startOfTime.Add(time.Duration(c.want)*time.Microsecond), f.tokenOf(0).LastUsedAt)
		}
		f.tokens(parley.TokenChange{ID: "one", Revoke: true, Used: startOfTime.Add(time.Hour)})
		f.equal("last use with a revocation", startOfTime.Add(time.Hour), f.tokenOf(0).LastUsedAt)
		f.equal("a change of another", time.Time{}, f.tokenOf(1).LastUsedAt)
		before1970 := time.Date(1960, 1, 2, 3, 4, 5, 0, time.UTC)
		f.tokens(parley.TokenChange{ID: "two", Used: before1970})
		f.equal("a first use before 1970", before1970, f.tokenOf(1).LastUsedAt)
	}},
	{"what is not there cannot be changed", func(f *fixture) {
		f.tokens(tokenFor("one", 0, anna))
		for _, c := range []parley.TokenChange{
			{ID: "two"}, {ID: "two", Revoke: true}, {ID: "two", Used: startOfTime}, {ID: "two", Remove: true}, {ID: "One", Remove: true},
		} {
			f.refuseToken(parley.CodeNotFound, parley.TokenChange{ID: "one", Revoke: true}, c)
		}
		f.tokens(parley.TokenChange{ID: "one", Revoke: true, Used: startOfTime, Remove: true})
		_, err := f.store.TokenByHash(f.Context(), hashes[0])
		f.code("TokenByHash of what was removed", parley.CodeNotFound, err)
		f.refuseToken(parley.CodeNotFound, parley.TokenChange{ID: "one", Remove: true})
	}},
	{"a token is found by the whole of its hash", func(f *fixture) {
		f.tokens(tokenFor("one", 0, anna))
		for _, other := range append(slices.Clone(hashes[1:]), strangeHash, [32]byte{}) {
			_, err := f.store.TokenByHash(f.Context(), other)
			f.code("TokenByHash", parley.CodeNotFound, err)
		}
	}},
	{"tokens come in pages by id, of one or of all", func(f *fixture) {
		join := oneOfEach()[4]
		f.tokens(tokenFor("b", 0, anna), tokenFor("a", 1, ben), tokenFor("B", 2, anna), tokenFor("é", 3, anna), parley.TokenChange{New: &join})
		f.tokens(parley.TokenChange{ID: "b", Revoke: true})
		for _, limit := range []int{0, 1, 2} {
			f.equal("all", []parley.TokenID{"B", "a", "b", "t-join", "é"}, f.tokenIDs("", limit))
			f.equal("of one", []parley.TokenID{"B", "b", "é"}, f.tokenIDs(anna, limit))
			f.equal("of another", []parley.TokenID{"a"}, f.tokenIDs(ben, limit))
			f.equal("of nobody who has one", 0, len(f.tokenIDs("no:one", limit)))
		}
	}},
	{"tokens outlive the people they are of", func(f *fixture) {
		f.commit(parley.Batch{
			Users: []parley.UserChange{{User: person("anna")}}, Identities: []parley.IdentityChange{linked(anna, "anna")},
			Tokens: []parley.TokenChange{tokenFor("one", 0, anna), tokenFor("two", 1, "no:one")},
		})
		f.commit(parley.Batch{Users: []parley.UserChange{{User: person("anna"), Remove: true}}})
		f.commit(parley.Batch{Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: anna}, Remove: true}}})
		f.equal("token", *tokenFor("one", 0, anna).New, f.tokenOf(0))
		f.equal("list", []parley.TokenID{"one"}, f.tokenIDs(anna, 0))
	}},
	{"of many that make the same one wins", func(f *fixture) {
		for i := range tenth(100) {
			id := parley.TokenID(rune('a' + i%26))
			won := race(f, 16, func(n int) parley.Batch {
				return parley.Batch{Tokens: []parley.TokenChange{tokenFor(id, n%2, anna)}}
			})
			f.equal("tokens that were made", 1, len(won))
			f.tokens(parley.TokenChange{ID: id, Remove: true})
		}
	}},
}
