package sqlite_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// The load of the crash tests. Each batch has a name, <life>.<writer>.<n>, and
// what it writes follows from the name alone: whoever knows the name knows every
// row to look for. Each spans several tables and up to three sessions, so that
// half of it would show.

const (
	poolBatch = "pool" // creates the sessions that all batches share
	poolSize  = 12
	bigBatch  = "big." // begins the name of a batch that fills the WAL
	loadAgent = "load"
	redacted  = "redacted" // namespace of sessions that are no part of the load
)

var (
	loadPrincipal = parley.Principal{Identity: "load:1", Role: parley.RoleOwner, Via: "local"}
	someTime      = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// part is what a batch does to one session.
type part struct {
	session    parley.SessionID
	create     bool // with a key and an alias
	turn       bool // a whole turn; otherwise its inputs stay queued
	inputs     int
	messages   int
	deliveries int
	padding    int // bytes in each message
	bulk       int // bytes in each delivery, where they cost little but pages
}

func poolSession(i int) parley.SessionID { return parley.SessionID(fmt.Sprintf("load:s%02d", i)) }

// partsOf gives what the batch of that name does.
func partsOf(name string) []part {
	if name == poolBatch {
		parts := make([]part, poolSize)
		for i := range parts {
			parts[i] = part{session: poolSession(i), create: true}
		}
		return parts
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	perm := r.Perm(poolSize)
	parts := make([]part, 1+r.IntN(3))
	for i := range parts {
		parts[i] = part{
			session: poolSession(perm[i]), turn: r.IntN(2) == 0,
			inputs: 1 + r.IntN(2), messages: 1 + r.IntN(3), deliveries: r.IntN(3), padding: r.IntN(600),
		}
		if r.IntN(6) == 0 {
			parts[i].deliveries, parts[i].bulk = 1, 20_000+r.IntN(80_000) // so that moves come
		}
	}
	if strings.HasPrefix(name, bigBatch) {
		parts[0].deliveries, parts[0].bulk = 1, 400_000
	}
	if r.IntN(4) == 0 {
		parts[0].session, parts[0].create = parley.SessionID("load:own-"+name), true
	}
	return parts
}

func (p part) input(name string, i int) parley.InputRef {
	return parley.InputRef{Origin: "load/" + string(p.session), ID: fmt.Sprintf("%s#%d", name, i)}
}

func (p part) delivery(name string, i int) parley.DeliveryID {
	return parley.DeliveryID(fmt.Sprintf("%s#%s#%d", name, strings.TrimPrefix(string(p.session), "load:"), i))
}

func (p part) key() parley.Key     { return parley.Key("sk_" + string(p.session)) }
func (p part) alias() parley.Alias { return parley.Alias("alias " + string(p.session)) }

// events says which events the part leaves, in their order.
func (p part) events(name string) []string {
	var list []string
	for i := range p.inputs {
		list = append(list, fmt.Sprintf("%s %s#%d", parley.EventInput, name, i))
	}
	if p.create {
		list = append(list, string(parley.EventStarted))
	}
	if p.turn {
		list = append(list, string(parley.EventTurnStarted))
	}
	for i := range p.messages {
		list = append(list, fmt.Sprintf("%s %s#%d", parley.EventMessage, name, i))
	}
	if p.turn {
		list = append(list, string(parley.EventTurnCompleted))
	}
	return list
}

// change builds the part.
func (p part) change(name string) parley.SessionChange {
	c := parley.SessionChange{Session: p.session}
	if p.create {
		source := parley.Source{Kind: "load"}
		c.Create = &parley.NewSession{Key: p.key(), Agent: parley.AgentSnapshot{Name: loadAgent}, Source: source, Type: parley.SessionDirect}
		c.Events = append(c.Events, parley.NewEvent{Body: &parley.Started{Agent: loadAgent, Source: source}})
	}
	state, turn := parley.InputQueued, parley.TurnID("")
	if p.turn {
		state, turn = parley.InputDone, parley.TurnID(name)
		done, stop := parley.TurnDone, parley.StopDone
		c.Claim = true
		c.Turns = []parley.TurnChange{{ID: turn, Start: true}, {ID: turn, State: &done, StopReason: &stop}}
		c.Events = append(c.Events, parley.NewEvent{Turn: turn, Body: &parley.TurnStarted{Attempt: 1}})
	}
	for i := range p.inputs {
		c.Admit = append(c.Admit, parley.Input{
			Ref: p.input(name, i), Kind: parley.InputMessage, Parts: []parley.Part{parley.TextPart("input of " + name)},
			Principal: loadPrincipal, State: state, Turn: turn,
		})
	}
	for i := range p.messages {
		m := &parley.Message{
			ID: fmt.Sprintf("%s#%d", name, i), Role: parley.MessageAssistant,
			Parts: []parley.Part{parley.TextPart(name + " " + strings.Repeat("x", p.padding))},
		}
		if p.turn && i < p.inputs {
			m.Role, m.Inputs = parley.MessageUser, []parley.InputRef{p.input(name, i)}
		}
		c.Events = append(c.Events, parley.NewEvent{Turn: turn, Body: m})
	}
	if p.turn {
		c.Events = append(c.Events, parley.NewEvent{Turn: turn, Body: &parley.TurnCompleted{
			StopReason:   parley.StopDone,
			Usage:        parley.Usage{InputTokens: int64(p.padding), OutputTokens: int64(p.messages), CostMicroUSD: 7},
			PromptTokens: int64(1 + p.padding),
		}})
	}
	for i := range p.deliveries {
		c.Deliveries = append(c.Deliveries, parley.DeliveryChange{New: &parley.Delivery{
			ID: p.delivery(name, i), Kind: parley.DeliveryMessage, Target: parley.Target{Channel: "load", Chat: "1"}, Part: i, Text: "reply of " + name + strings.Repeat("x", p.bulk),
			State: parley.DeliveryPending,
		}})
	}
	return c
}

// batchOf builds the batch of that name.
func batchOf(name string) parley.Batch {
	b := parley.Batch{At: time.Now().UTC().Truncate(time.Microsecond)}
	for _, p := range partsOf(name) {
		b.Sessions = append(b.Sessions, p.change(name))
		if p.create {
			b.Keys = append(b.Keys, parley.KeyChange{Key: p.key(), Session: p.session})
			b.Aliases = append(b.Aliases, parley.AliasChange{Alias: p.alias(), Key: p.key()})
		}
	}
	b.Tokens = []parley.TokenChange{{New: &parley.Token{
		ID: parley.TokenID(name), Kind: parley.TokenUser, Hash: sha256.Sum256([]byte(name)), Identity: loadPrincipal.Identity,
	}}}
	b.Audit = []parley.AuditEntry{{Action: name, Actor: loadPrincipal.Identity}}
	return b
}

// ack is an acknowledged batch, and the seqs it was told.
type ack struct {
	Name     string
	Sessions []parley.SessionResult
	Pos      uint64
	InCrowd  bool // it was one of many, or soon after
}

// preparePool makes the shared sessions unless they are there.
func preparePool(ctx context.Context, s parley.Store, acked func(ack)) error {
	_, err := s.Session(ctx, parley.SeeAll(), poolSession(0))
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return commitLoad(ctx, s, poolBatch, acked)
}

func commitLoad(ctx context.Context, s parley.Store, name string, acked func(ack)) error {
	res, err := s.Commit(ctx, batchOf(name))
	if err != nil {
		return fmt.Errorf("commit %s: %w", name, err)
	}
	inner, ok := s.(*sqlite.Store)
	acked(ack{Name: name, Sessions: res.Sessions, Pos: res.Pos, InCrowd: ok && sqlite.InCrowd(inner)})
	return nil
}

// someWriters chooses how many there are: a few, or in one of three cases so many that they are a crowd.
func someWriters(r *rand.Rand) int {
	if r.IntN(3) == 0 {
		return leastCrowd + r.IntN(3*leastCrowd)
	}
	return 1 + r.IntN(3)*r.IntN(4)
}

// leastCrowd is how many writers of the load come to be a crowd for certain.
const leastCrowd = 2 * sqlite.CrowdFrom

// runLoad commits with several writers until each had its share or an error,
// and gives the errors. Where they could be a crowd they come and go: all of them and a few take turns, so that
// crowds begin and end.
func runLoad(ctx context.Context, s parley.Store, life, writers, batches int, acked func(ack)) error {
	if err := preparePool(ctx, s, acked); err != nil {
		return err
	}
	done, errs := make([]int, writers), make([]error, writers)
	for round := 0; slices.Min(done) < batches; round++ {
		active, share := writers, batches
		if writers >= leastCrowd {
			share = 2 + (life+round)%4
			if round%2 == 1 {
				active = 1 + round%3
			}
		}
		var work sync.WaitGroup
		for w := range active {
			work.Go(func() {
				for n := min(share, batches-done[w]); n > 0 && errs[w] == nil; n-- {
					done[w]++
					errs[w] = commitLoad(ctx, s, fmt.Sprintf("%d.%d.%d", life, w, done[w]), acked)
				}
			})
		}
		work.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}
