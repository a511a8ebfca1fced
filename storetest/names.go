package storetest

import "github.com/parley-run/parley"

var nameTests = []test{
	{"a key leads to its current session", func(f *fixture) {
		scope := parley.Scope{
			Version: 1, Agent: "helper", Channel: "telegram", Account: "main",
			Dimensions: []parley.Dimension{parley.DimensionChat}, Values: map[parley.Dimension]string{parley.DimensionChat: "-100 7"},
		}
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme), newSession(away)},
			Keys:     []parley.KeyChange{{Key: theme, Session: home, Scope: &scope}},
			Aliases:  []parley.AliasChange{{Alias: "b c", Key: theme}, {Alias: "A", Key: theme}, {Alias: "a", Key: theme}},
		})
		want := parley.KeyEntry{Key: theme, Current: home, Scope: &scope}
		f.equal("aliases", []parley.Alias{"A", "a", "b c"}, f.aliases(theme))
		for _, name := range []string{string(theme), "a", "A", "b c"} {
			f.equal("lookup of "+name, want, f.lookup(name))
		}
		f.commit(parley.Batch{Keys: []parley.KeyChange{{Key: theme, Session: away}}})
		want.Current = away
		f.equal("after it was pointed elsewhere", want, f.lookup("a"))
		other := parley.Scope{Version: 2, Agent: "coder"}
		f.commit(parley.Batch{Keys: []parley.KeyChange{{Key: theme, Scope: &other}}})
		want.Current, want.Scope = "", &other
		f.equal("after it was pointed nowhere", want, f.lookup("a"))
		for _, name := range []string{"b", "B C", "", "%", "a\x00", "sk_v1_none"} {
			_, err := f.store.Lookup(f.Context(), all, name)
			f.code("Lookup of "+describe(name), parley.CodeNotFound, err)
		}
	}},
	{"a key needs a session that is there", func(f *fixture) {
		f.refuse(parley.CodeNotFound, parley.Batch{Keys: []parley.KeyChange{{Key: theme, Session: home}}})
		f.change(newSession(home))
		f.refuse(parley.CodeNotFound, parley.Batch{
			Sessions: []parley.SessionChange{drop(home)}, Keys: []parley.KeyChange{{Key: theme, Session: home}},
		})
	}},
	{"the key of a new session is known, and leads nowhere yet", func(f *fixture) {
		f.change(keyedSession(home, theme))
		f.equal("entry", parley.KeyEntry{Key: theme}, f.lookup(string(theme)))
		f.commit(parley.Batch{Aliases: []parley.AliasChange{{Alias: "a", Key: theme}}})
		f.equal("entry", parley.KeyEntry{Key: theme}, f.lookup("a"))
		f.equal("aliases", []parley.Alias{"a"}, f.aliases(theme))
	}},
	{"a new session of a known key changes nothing about the key", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme)},
			Keys:     []parley.KeyChange{{Key: theme, Session: home, Scope: &parley.Scope{Version: 1}}},
		})
		before := f.lookup(string(theme))
		f.change(keyedSession(away, theme))
		f.equal("entry", before, f.lookup(string(theme)))
	}},
	{"the first claim of an alias stays, and a clash is reported", func(f *fixture) {
		f.change(keyedSession(home, "sk_v1_1"), keyedSession(away, "sk_v1_2"))
		res := f.commit(parley.Batch{Aliases: []parley.AliasChange{
			{Alias: "a", Key: "sk_v1_1"}, {Alias: "a", Key: "sk_v1_2"}, {Alias: "a", Key: "sk_v1_1"},
		}})
		clash := []parley.AliasClash{{Alias: "a", Owner: "sk_v1_1"}}
		f.equal("clashes in one batch", clash, res.Clashes)
		res = f.commit(parley.Batch{
			Sessions: []parley.SessionChange{appendTo(away, say("m", "x"))},
			Aliases:  []parley.AliasChange{{Alias: "a", Key: "sk_v1_2"}, {Alias: "b", Key: "sk_v1_2"}},
		})
		f.equal("clashes", clash, res.Clashes)
		f.equal("the rest of the batch", uint64(1), f.session(away).LastSeq)
		f.equal("owner", parley.Key("sk_v1_1"), f.lookup("a").Key)
		f.equal("other alias", parley.Key("sk_v1_2"), f.lookup("b").Key)
		f.commit(parley.Batch{Aliases: []parley.AliasChange{{Alias: "a"}, {Alias: "never"}, {Alias: "a", Key: "sk_v1_2"}}})
		f.equal("owner after a release", parley.Key("sk_v1_2"), f.lookup("a").Key)
	}},
	{"an alias needs a key that is known", func(f *fixture) {
		f.change(keyedSession(home, theme))
		f.refuse(parley.CodeNotFound, parley.Batch{Aliases: []parley.AliasChange{{Alias: "a", Key: "sk_v1_none"}}})
		f.commit(parley.Batch{
			Keys: []parley.KeyChange{{Key: "sk_v1_2", Session: home}}, Aliases: []parley.AliasChange{{Alias: "a", Key: "sk_v1_2"}},
		})
	}},
	{"of many that claim an alias one has it", func(f *fixture) {
		f.change(keyedSession(home, "sk_v1_1"), keyedSession(away, "sk_v1_2"))
		won := race(f, 16, func(i int) parley.Batch {
			key := []parley.Key{"sk_v1_1", "sk_v1_2"}[i%2]
			return parley.Batch{
				Expect: []parley.Expectation{parley.AliasIs{Alias: "a"}}, Aliases: []parley.AliasChange{{Alias: "a", Key: key}},
			}
		})
		f.equal("claims", 1, len(won))
	}},
}
