package storetest

import (
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// oversize makes a bad batch of changes each of which could be stored, and adds about so many bytes: all together they are more than a batch
// may have.
func oversize(name string, each int, add func(b *parley.Batch, i int)) badBatch {
	return large(name, func() parley.Batch {
		var b parley.Batch
		for i := range parley.MaxBatchBytes/each + 1 {
			add(&b, i)
		}
		return b
	})
}

// unique is a text of so many bytes that ends in a number.
func unique(bytes, i int) string { return fmt.Sprintf("%s%08d", strings.Repeat("x", bytes-8), i) }

const oversizedEvents = "events that are too much together"

var oversizedBatches = []badBatch{
	oversize("aliases that are too much together", parley.MaxAliasBytes, func(b *parley.Batch, i int) {
		b.Aliases = append(b.Aliases, parley.AliasChange{Alias: parley.Alias(unique(parley.MaxAliasBytes, i)), Key: theme})
	}),
	oversize("keys that are too much together", parley.MaxKeyBytes+parley.MaxAliasBytes, func(b *parley.Batch, i int) {
		scope := parley.Scope{Version: 1, Agent: "main", Channel: "c", Account: "a", Dimensions: []parley.Dimension{parley.DimensionChat}}
		scope.Values = map[parley.Dimension]string{parley.DimensionChat: unique(parley.MaxAliasBytes, i)}
		b.Keys = append(b.Keys, parley.KeyChange{Key: parley.Key(unique(parley.MaxKeyBytes, i)), Scope: &scope})
	}),
	oversize("users that are too much together", parley.MaxNameBytes, func(b *parley.Batch, i int) {
		u := person(parley.UserID(fmt.Sprint("user-", i)))
		u.Name = unique(parley.MaxNameBytes, i)
		b.Users = append(b.Users, parley.UserChange{User: u})
	}),
	oversize("identities that are too much together", parley.MaxNameBytes, func(b *parley.Batch, i int) {
		id := parley.Identity{ID: parley.IdentityID(fmt.Sprint("telegram:", i)), Name: unique(parley.MaxNameBytes, i), CreatedAt: startOfTime}
		b.Identities = append(b.Identities, parley.IdentityChange{Identity: id})
	}),
	oversize("lines of the audit that are too much together", parley.MaxTextBytes, func(b *parley.Batch, i int) {
		b.Audit = append(b.Audit, parley.AuditEntry{Action: "test", Detail: unique(parley.MaxTextBytes, i)})
	}),
	oversize("metadata that is too much together", parley.MaxMetadataBytes-64, func(b *parley.Batch, i int) {
		c := newSession(parley.SessionID(fmt.Sprint("cli:s", i)))
		c.Create.Metadata = map[string]string{"a": unique(parley.MaxMetadataBytes-64, i)}
		b.Sessions = append(b.Sessions, c)
	}),
	oversize("expectations that are too much together", parley.MaxKeyBytes, func(b *parley.Batch, i int) {
		b.Expect = append(b.Expect, parley.KeyIs{Key: parley.Key(unique(parley.MaxKeyBytes, i))})
	}),
	oversize(oversizedEvents, parley.MaxBodyBytes/2, func(b *parley.Batch, i int) {
		if i == 0 {
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: home})
		}
		c := &b.Sessions[0]
		c.Events = append(c.Events, say(fmt.Sprint("m", i), unique(parley.MaxBodyBytes/2, i)))
	}),
	oversize("inputs that are too much together", parley.MaxBodyBytes/2, func(b *parley.Batch, i int) {
		if i == 0 {
			b.Sessions = append(b.Sessions, parley.SessionChange{Session: home})
		}
		c := &b.Sessions[0]
		c.Admit = append(c.Admit, post(fmt.Sprint("i", i), unique(parley.MaxBodyBytes/2, i)))
	}),
}
