package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/parley-run/parley"
)

// conversation is a session of the population with all that leads to it.
type conversation struct {
	id      parley.SessionID
	key     parley.Key
	scope   parley.Scope
	aliases [2]parley.Alias
	kind    parley.SessionType
	people  []parley.IdentityID
	at      time.Time // of its last activity
}

// regular is an identity that takes part in pageRows sessions of every
// population, however large that is.
const regular parley.IdentityID = "web:regular"

// population is a number of conversations in no particular order. All of them
// follow from their number, so nothing needs to be remembered.
type population struct {
	n    int
	base time.Time // the newest may have happened then
}

// conversation gives the i-th.
func (p population) conversation(i int) conversation {
	who := strconv.FormatUint(1_000_000_000+uint64(mix(uint32(i))), 10)
	const window = 90 * 24 * 3600 // seconds in which they took place
	back := time.Duration(uint64(mix(uint32(i)+0x9e3779b9))*window>>32)*time.Second +
		time.Duration(mix(uint32(i)+0x85ebca6b)%1_000_000)*time.Microsecond
	c := conversation{kind: parley.SessionDirect, at: p.base.Add(-back)}
	var random [4]byte
	binary.BigEndian.PutUint32(random[:], mix(uint32(i)^0x5bd1e995))
	c.id = parley.NewSessionID("telegram", c.at, random)
	c.people = []parley.IdentityID{parley.IdentityID("telegram:" + who)}
	if i%4 == 3 {
		c.kind = parley.SessionGroup
		c.people = append(c.people, parley.IdentityID("telegram:"+strconv.Itoa(i/4%997)))
	}
	if stride := max(p.n/pageRows, 1); i%stride == 0 && i/stride < pageRows {
		c.people = append(c.people, regular)
	}
	chat := string(c.kind) + ":" + who
	c.scope = parley.Scope{
		Version: 1, Agent: "main", Channel: "telegram", Account: "default",
		Dimensions: []parley.Dimension{parley.DimensionChat},
		Values:     map[parley.Dimension]string{parley.DimensionChat: chat},
	}
	sum := sha256.Sum256([]byte("v=1|agent=main|channel=telegram|account=default|chat=" + chat))
	c.key = parley.Key("sk_v1_" + hex.EncodeToString(sum[:]))
	c.aliases = [2]parley.Alias{
		parley.Alias("agent:main:telegram:" + chat),
		parley.Alias("agent:main:telegram:default:" + chat),
	}
	return c
}

// random gives the number of a conversation; another seed, another one. Runs
// draw the same ones, so that they can be compared.
func (p population) random(seed uint32) int {
	return int(uint64(mix(seed^0xc2b2ae35)) * uint64(p.n) >> 32)
}

// agentConfig stands for an agent's frozen configuration.
const agentConfig = `{"model":"scripted","tools":["files","http_request"],"access":"private"}`

// add puts the conversation into a batch: the session with its three events or
// more, its key, its aliases, its people.
func (c *conversation) add(b *parley.Batch, i int) {
	at := c.at.Add(-time.Minute)
	events := []parley.NewEvent{{
		At: at, Body: &parley.Started{Agent: "main", Source: parley.Source{Kind: "channel", Platform: "telegram", Interactive: true}},
	}}
	for _, who := range c.people {
		events = append(events, parley.NewEvent{At: at, Identity: who, Body: &parley.ParticipantChanged{Identity: who}})
	}
	events = append(events, parley.NewEvent{At: c.at, Identity: c.people[0], Body: &parley.Message{
		ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text(uint32(i), 200))},
	}})
	b.Sessions = append(b.Sessions, parley.SessionChange{
		Session: c.id,
		Create: &parley.NewSession{
			Key: c.key, Type: c.kind,
			Agent:  parley.AgentSnapshot{Name: "main", Config: json.RawMessage(agentConfig)},
			Source: parley.Source{Kind: "channel", Platform: "telegram", Interactive: true},
		},
		Events: events,
	})
	b.Keys = append(b.Keys, parley.KeyChange{Key: c.key, Session: c.id, Scope: &c.scope})
	for _, alias := range c.aliases {
		b.Aliases = append(b.Aliases, parley.AliasChange{Alias: alias, Key: c.key})
	}
}

// populate stores the population, many sessions to a batch.
func (p population) populate(ctx context.Context, store parley.Store, progress func(done, total int64)) error {
	// Large batches, because keys in no order touch a page each, and the more
	// come together the more share one. Several writers, so that batches are
	// made while others are written.
	const perBatch, writers = 2_000, 3
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	starts := make(chan int)
	done := make(chan int, writers)
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for from := range starts {
				b := parley.Batch{At: p.base}
				to := min(from+perBatch, p.n)
				for i := from; i < to; i++ {
					c := p.conversation(i)
					c.add(&b, i)
				}
				res, err := store.Commit(ctx, b)
				if err == nil && len(res.Clashes) > 0 {
					err = fmt.Errorf("alias %s was taken", res.Clashes[0].Alias)
				}
				if err != nil {
					cancel(fmt.Errorf("store sessions: %w", err))
					return
				}
				done <- to - from
			}
		})
	}
	go func() {
		defer close(done)
		defer running.Wait()
		defer close(starts)
		for from := 0; from < p.n; from += perBatch {
			select {
			case starts <- from:
			case <-ctx.Done():
				return
			}
		}
	}()
	stored := int64(0)
	for n := range done {
		stored += int64(n)
		progress(stored, int64(p.n))
	}
	return context.Cause(ctx)
}
