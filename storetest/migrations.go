package storetest

import (
	"fmt"

	"github.com/parley-run/parley"
)

// migrationTests are for stores that keep what they hold from one version to the next.
var migrationTests = []test{
	{"down to each format and up again", func(f *fixture) {
		f.needsFormats()
		for format := f.h.NewestFormat - 1; format >= 1; format-- {
			downAndUp(f, fmt.Sprintf("format %d", format), format)
		}
	}},
	{"down step by step, and up again at once", func(f *fixture) {
		f.needsFormats()
		var steps []int
		for format := f.h.NewestFormat - 1; format >= 1; format-- {
			steps = append(steps, format)
		}
		downAndUp(f, "all the way", steps...)
	}},
}

// needsFormats fails the test if nobody said how to get to an older format.
func (f *fixture) needsFormats() {
	f.Helper()
	if f.h.MigrateTo == nil || f.h.NewestFormat < 2 {
		f.Fatal("the harness does not say how a store gets to an older format")
	}
}

// downAndUp takes a store to formats one after the other and opens it, which upgrades it. What every format can hold is what it was, and the
// store works on as if nothing had been. Each time that happens to other sessions, and to those of before.
func downAndUp(f *fixture, name string, formats ...int) {
	f.Helper()
	id := func(s string) parley.SessionID {
		return parley.SessionID(fmt.Sprintf("cli:%s-%d-%d", s, formats[0], len(formats)))
	}
	key, alias := parley.Key("sk_v1_"+string(id("key"))), parley.Alias("readable "+name)
	parent := keyedSession(id("parent"), key, append(says(3), join(anna), reply("m4", "of the agent"))...)
	parent.Create.Metadata = map[string]string{"team": "blue"}
	parent.Patch.Title = &parley.Title{Text: "of two", Seq: 2}
	f.commit(parley.Batch{
		Sessions: []parley.SessionChange{parent, keyedSession(id("other"), key, says(1)...), newSession(id("gone"), says(2)...)},
		Keys:     []parley.KeyChange{{Key: key, Session: id("parent")}},
		Aliases:  []parley.AliasChange{{Alias: alias, Key: key}},
	})
	f.change(fork(id("fork"), id("parent"), 4, say("m5", "further on")))
	f.change(fork(id("heir"), id("gone"), 2))
	f.change(drop(id("gone")), redact(id("parent"), 1))

	sessions := []parley.SessionID{id("parent"), id("other"), id("fork"), id("heir")}
	look := func() (all []any) {
		all = append(all, f.log(), f.lookup(string(alias)), f.lookup(string(key)), f.aliases(key), f.list(parley.SessionQuery{Key: key}))
		for _, s := range sessions {
			all = append(all, f.session(s), f.events(s))
		}
		return all
	}
	before := look()
	for _, format := range formats {
		if err := f.store.Close(); err != nil {
			f.Fatalf("%s: Close: %v", name, err)
		}
		f.h.MigrateTo(f.T, f.dir, format)
	}
	f.open()
	for i, is := range look() {
		f.equal(fmt.Sprintf("%s, read %d", name, i), before[i], is)
	}

	last := f.log()
	res := f.commit(parley.Batch{
		Expect:   []parley.Expectation{parley.KeyIs{Key: key, Session: id("parent")}},
		Sessions: []parley.SessionChange{appendTo(id("parent"), say("m6", "after the upgrade")), admit(id("fork"), post(name, "hello"))},
		Keys:     []parley.KeyChange{{Key: key, Session: id("other")}},
	})
	f.equal(name+", what follows", []parley.SessionResult{{FirstSeq: 6, LastSeq: 6}, {FirstSeq: 6, LastSeq: 6}}, res.Sessions)
	if after := f.log(); len(after) != len(last)+2 || after[len(last)].Pos <= last[len(last)-1].Pos {
		f.Errorf("%s: %d events, and %d after two more", name, len(last), len(after))
	}
	f.equal(name+", the key", id("other"), f.lookup(string(alias)).Current)
	f.equal(name+", an input again", post(name, "").Ref, f.duplicate(parley.Batch{Sessions: []parley.SessionChange{admit(id("fork"), post(name, "hello"))}}).Ref)
	f.equal(name+", after a redaction", "(gone)", func() string {
		f.change(redact(id("fork"), 2))
		return texts(f, id("parent"))[1]
	}())
}
