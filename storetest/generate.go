package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/parley-run/parley"
)

// The names that random sequences use. They are few, so that operations meet
// each other, and some are awkward: other scripts, quotes, what looks like a
// pattern or a path.
var (
	sessionIDs = []parley.SessionID{
		"cli:work", "cli:Work", "cli:w%rk", "web:20250102_030405_0a1b2c3d",
		"web:a:b", "chat:дом", "chat:_", "cl:work",
	}
	turnIDs     = []parley.TurnID{"t1", "t2", "t3", "t4", "t5"}
	callIDs     = []parley.CallID{"c1", "c2", "c3"}
	deliveryIDs = []parley.DeliveryID{"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"}
	noticeIDs   = []parley.NoticeID{"n1", "n2", "n3"}
	keyNames    = []parley.Key{"sk_v1_0a", "sk_v1_0b", "sk_v1_0c", "sk_v1_'", "sk_v1_é", "both"}
	aliasNames  = []parley.Alias{"agent:a:main", "telegram/1/-100 7", "both", "sk_v1_0a", "a%", "a_", `"q"`, "日本"}
	userIDs     = []parley.UserID{"anna", "Anna", "ben"}
	identityIDs = []parley.IdentityID{"telegram:7", "web:anna", "discord:9", "cli:local", "telegram:77"}
	tokenIDs    = []parley.TokenID{"tok_1", "Tok_1", "tok_%", "tok_é", "tok_2"}
	actionNames = []string{"sign_in", "Sign_in", "role changed"}
	blobHandles = []parley.BlobHandle{"blob_0a", "blob_0b", "Blob_0a", "blob_%", "blob_é"}
	origins     = []string{"telegram/main/7", "web:anna/cli:work", "cli:local/sk_v1_0a"}

	// hashes are those of tokens and passcodes. They differ at one end, where nobody
	// may stop to look, and hold bytes that text cannot.
	hashes = [][32]byte{{1}, {2}, {0: 1, 31: 1}, {31: 1}, {31: 2}, {0: 0xff, 31: 0xff}, {15: 0x27}, {0: 'a', 31: ' '}}

	// These are asked for and never stored.
	nobody      = parley.SessionID("cli:nobody")
	strangeTurn = parley.TurnID("t0")
	strangeRef  = parley.InputRef{Origin: "nowhere", ID: "0"}
	strangeBlob = parley.BlobHandle("blob_00")
	strangeHash = [32]byte{31: 0xff}
)

// startOfTime is when each sequence begins; none lasts longer than oneSequence.
var startOfTime = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

const oneSequence = 24 * time.Hour

// generator makes batches that fit the state of a store well enough to succeed
// most of the time, with slips that make them fail in every way they can.
type generator struct {
	*rand.Rand
	oracle *oracle // the state before the batch
	// ahead is the state after the parts of the batch made so far, so that later
	// parts can build upon earlier ones.
	ahead  *oracle
	now    time.Time
	serial int
	refs   []parley.InputRef // all that were ever admitted
}

func newGenerator(seed uint64, o *oracle) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 0)), oracle: o, now: startOfTime}
}

// chance is true in n of 100 cases.
func (g *generator) chance(n int) bool { return g.IntN(100) < n }

// slip is true when the next value should be one that does not fit.
func (g *generator) slip() bool { return g.chance(2) }

// upTo gives a number from 1 to n.
func (g *generator) upTo(n int) int { return 1 + g.IntN(n) }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// either gives one of the values, each as likely as the others.
func either[T any](g *generator, values ...T) T { return pick(g, values) }

// maybe gives a pointer to the value in n of 100 cases.
func maybe[T any](g *generator, n int, value func() T) *T {
	if !g.chance(n) {
		return nil
	}
	v := value()
	return &v
}

// fresh gives a name that was not used before.
func (g *generator) fresh(prefix string) string {
	g.serial++
	return fmt.Sprintf("%s%d", prefix, g.serial)
}

// moment gives a time near now, at times one with a remainder that only
// microseconds can hold.
func (g *generator) moment() time.Time {
	return g.now.Add(time.Duration(g.IntN(7200)-3600)*time.Second + time.Duration(g.IntN(1000))*time.Microsecond)
}

// earlier gives a time as an importer brings it, at times days before.
func (g *generator) earlier() time.Time {
	return g.moment().AddDate(0, 0, -either(g, 0, 0, 1, g.IntN(20)))
}

// batch makes the next batch.
func (g *generator) batch() parley.Batch {
	if !g.chance(20) {
		g.now = g.now.Add(time.Duration(g.IntN(600_000_000)) * time.Microsecond)
	}
	b := parley.Batch{At: g.now, MayWait: g.chance(5)}
	if g.chance(40) {
		for range g.upTo(3) {
			b.Expect = append(b.Expect, g.expectation())
		}
	}
	g.ahead = g.oracle.clone()
	g.blobs(&b)
	if !g.chance(8) {
		for _, i := range g.Perm(len(sessionIDs))[:either(g, 1, 1, 1, 1, 2, 3)] {
			b.Sessions = append(b.Sessions, g.session(sessionIDs[i]))
		}
	}
	g.names(&b)
	g.people(&b)
	g.credentials(&b)
	if g.chance(4) {
		g.repeatInput(&b)
	}
	if g.chance(5) {
		g.spoil(&b)
	}
	return b
}

// session makes a change of one session, part by part.
func (g *generator) session(id parley.SessionID) parley.SessionChange {
	c := parley.SessionChange{Session: id}
	s, exists := g.ahead.sessions[id]
	if exists == g.slip() {
		c.Create = g.create()
		if err := g.ahead.create(g.now, id, c.Create); err == nil {
			s, exists = g.ahead.sessions[id], true
		}
	}
	if !exists {
		c.Claim = true // anything will do: the session is not there
		return c
	}
	if g.chance(15) {
		c.Claim = true
		s.row.Fence++
	}
	if g.chance(30) {
		c.Patch = g.patch(s)
		g.ahead.moveToKey(s, c.Patch.Key)
		s.patch(&c.Patch)
	}
	g.events(&c, s)
	g.work(&c, s)
	if g.chance(10) && len(s.shows) > 0 {
		for range g.upTo(2) {
			seq := g.redactable(s)
			c.Redact = append(c.Redact, seq)
			_ = g.ahead.redact(s, seq) // it fails in the batch if it fails here
		}
	}
	if g.chance(3) {
		c.Delete = true
		g.ahead.remove(s)
	}
	return c
}

func (g *generator) create() *parley.NewSession {
	n := &parley.NewSession{
		Agent: parley.AgentSnapshot{Name: either(g, "helper", "coder")},
		Source: parley.Source{
			Kind: either(g, "cli", "web", "channel"), Platform: either(g, "", "telegram"),
			Interactive: g.chance(50), Trigger: either(g, "", "mention"),
		},
		Type:  either(g, parley.SessionDirect, parley.SessionGroup),
		Title: parley.Title{Text: either(g, "", "Über \"alles\"")},
		Chat:  maybe(g, 20, g.target),
	}
	if g.chance(70) {
		n.Key = pick(g, keyNames)
	}
	if g.chance(50) {
		n.Agent.Config = []byte(`{"model":"m","temperature":0.10,"big":12345678901234567890}`)
	}
	if g.chance(50) {
		n.Metadata = map[string]string{"team": either(g, "red", "blue"), "note": "two\nlines"}
	}
	if g.chance(35) {
		n.Fork = g.forkPoint()
		parent := g.ahead.sessions[n.Fork.Session]
		if parent != nil && n.Fork.Seq <= uint64(len(parent.shows)) && n.Title.Text != "" {
			n.Title.Seq = g.titleSeq(parent, n.Fork.Seq)
		}
	}
	return n
}

func (g *generator) forkPoint() *parley.ForkPoint {
	f := &parley.ForkPoint{Session: pick(g, sessionIDs)}
	if s := g.ahead.sessions[f.Session]; s != nil {
		f.Seq = uint64(g.IntN(len(s.shows) + 1))
		if g.slip() {
			f.Seq += uint64(len(s.shows)) + 1
		}
	}
	return f
}

func (g *generator) patch(s *oracleSession) parley.SessionPatch {
	p := parley.SessionPatch{
		Key: maybe(g, 15, func() parley.Key { return pick(g, keyNames) }),
		Status: maybe(g, 40, func() parley.Status {
			return either(g, parley.StatusIdle, parley.StatusRunning, parley.StatusAwaitingApproval, parley.StatusInactive)
		}),
		Ended: maybe(g, 20, func() parley.Ending {
			return either(g, parley.Ending{At: g.moment(), Reason: "reset"}, parley.Ending{})
		}),
		Recovery: maybe(g, 20, func() parley.Recovery {
			return parley.Recovery{
				State:  either(g, parley.RecoveryNone, parley.RecoveryResumePending, parley.RecoverySuspended),
				Reason: either(g, "", "restart_timeout"), At: g.moment(), Strikes: g.IntN(3),
			}
		}),
		Title: maybe(g, 30, func() parley.Title {
			return parley.Title{Text: g.fresh("title "), Seq: g.titleSeq(s, uint64(len(s.shows)))}
		}),
		Description: maybe(g, 20, func() string { return either(g, "", "what it is\nabout") }),
		Busy:        maybe(g, 20, func() parley.BusyMode { return either(g, "", parley.BusyQueue, parley.BusySteer) }),
		Chat:        maybe(g, 20, g.target),
	}
	if g.chance(30) {
		p.Metadata = map[string]string{either(g, "team", "note", "more"): either(g, "", "red", "green")}
	}
	return p
}

// titleSeq gives the event a title may have been made from: one whose body is
// still there, up to the given seq, or none.
func (g *generator) titleSeq(s *oracleSession, upTo uint64) uint64 {
	return g.intact(s, upTo, func(e *oracleEvent) bool { return e.Type.Redactable() })
}

// intact gives the seq of a random event that fits and is not redacted, or 0.
func (g *generator) intact(s *oracleSession, upTo uint64, fits func(*oracleEvent) bool) uint64 {
	var seqs []uint64
	for i, pos := range s.shows[:upTo] {
		e := g.ahead.event(pos)
		if _, redacted := e.body.(*parley.Tombstone); !redacted && fits(e) {
			seqs = append(seqs, uint64(i)+1)
		}
	}
	if len(seqs) == 0 || g.chance(20) {
		return 0
	}
	return pick(g, seqs)
}

// redactable gives a seq to redact; a slip gives one that cannot be.
func (g *generator) redactable(s *oracleSession) uint64 {
	last := uint64(len(s.shows))
	if g.slip() {
		return either(g, 0, last+1, last+100, uint64(g.upTo(len(s.shows))))
	}
	var seqs []uint64
	for i, pos := range s.shows {
		if g.ahead.event(pos).Type.Redactable() {
			seqs = append(seqs, uint64(i)+1)
		}
	}
	if len(seqs) == 0 {
		return last
	}
	return pick(g, seqs)
}

// knownInputs gives the refs of a session's inputs that fit, oldest first.
func (g *generator) knownInputs(s *oracleSession, fits func(oracleInput) bool) []parley.InputRef {
	return slices.DeleteFunc(slices.Clone(g.refs), func(ref parley.InputRef) bool {
		in, known := g.ahead.inputs[ref]
		return !known || in.owner != s.order || !fits(in)
	})
}
