package keep_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ncruces/go-sqlite3"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/keep"
	"github.com/parley-run/parley/sqlite"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func fresh(key parley.Key) *parley.NewSession {
	return &parley.NewSession{Key: key, Type: parley.SessionDirect, Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}}
}

func numbered(i int) parley.SessionID {
	return parley.NewSessionID("cli", noon, [4]byte{0, 0, byte(i >> 8), byte(i)})
}

// crowd makes the sessions with these numbers, each with a key.
func crowd(from, to int) parley.Batch {
	b := parley.Batch{At: noon}
	for i := from; i < to; i++ {
		key := parley.Key("sk_v1_" + strconv.Itoa(i))
		b.Sessions = append(b.Sessions, parley.SessionChange{Session: numbered(i), Create: fresh(key)})
		b.Keys = append(b.Keys, parley.KeyChange{Key: key, Session: numbered(i)})
	}
	return b
}

// clinic is a store with a bit of everything, and the file it is in.
func clinic(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "parley.db")
	store := open(t, path, false)
	started := parley.NewEvent{Body: &parley.Started{Agent: "main", Source: parley.Source{Kind: "cli"}}}
	joins := func(id parley.IdentityID, left bool) parley.NewEvent {
		return parley.NewEvent{Body: &parley.ParticipantChanged{Identity: id, Left: left}}
	}
	say := func(id, text string) parley.NewEvent {
		return parley.NewEvent{Body: &parley.Message{ID: id, Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(text)}}}
	}
	waits := func(id string, state parley.InputState) parley.Input {
		return parley.Input{
			Ref: parley.InputRef{Origin: "cli/x", ID: id}, Kind: parley.InputMessage, State: state,
			Parts:     []parley.Part{parley.TextPart("and then?")},
			Principal: parley.Principal{Identity: "cli:ada", Role: parley.RoleOwner, Via: "local"},
		}
	}
	commit(t, store, parley.Batch{
		At: noon,
		Sessions: []parley.SessionChange{
			{
				Session: "cli:work", Create: fresh("sk_v1_work"),
				Events: []parley.NewEvent{
					started, joins("cli:ada", false), joins("cli:bob", false), say("m1", "hello there"),
					{Body: &parley.TurnCompleted{StopReason: parley.StopDone, PromptTokens: 7, Usage: parley.Usage{InputTokens: 11, OutputTokens: 5}}},
				},
			},
			{Session: "cli:queue", Create: fresh(""), Events: []parley.NewEvent{started}},
			{Session: "cli:plain", Create: fresh("sk_v1_plain")}, // no event at all
		},
		Keys: []parley.KeyChange{{Key: "sk_v1_work", Session: "cli:work"}, {Key: "sk_v1_plain", Session: "cli:plain"}},
	})
	commit(t, store, parley.Batch{
		At: noon.Add(time.Minute),
		Sessions: []parley.SessionChange{
			{Session: "cli:work", Events: []parley.NewEvent{joins("cli:bob", true), say("m2", "what I said last")}},
			{Session: "cli:queue", Admit: []parley.Input{waits("1", parley.InputQueued), waits("2", parley.InputQueued), waits("3", parley.InputLogged)}},
		},
	})
	fork := fresh("")
	fork.Fork = &parley.ForkPoint{Session: "cli:work", Seq: 4}
	commit(t, store, parley.Batch{
		At:       noon.Add(2 * time.Minute),
		Sessions: []parley.SessionChange{{Session: "cli:fork", Create: fork, Events: []parley.NewEvent{{Body: &parley.Forked{From: "cli:work", AtSeq: 4}}}}},
	})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string, readOnly bool) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, sqlite.Config{ReadOnly: readOnly})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func commit(t *testing.T, store parley.Store, b parley.Batch) {
	t.Helper()
	if _, err := store.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// harm changes the file behind the store's back.
func harm(t *testing.T, path, sql string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(sql); err != nil {
		t.Fatal(err)
	}
	if db.TotalChanges() == 0 {
		t.Fatal("nothing was damaged")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func doctor(t *testing.T, store keep.Store, opt keep.Config) keep.Report {
	t.Helper()
	report, err := keep.Doctor(t.Context(), store, opt)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// named gives "session kind" of each finding.
func named(r keep.Report) []string {
	var names []string
	for _, f := range r.Findings {
		names = append(names, string(f.Session)+" "+f.Kind)
	}
	return names
}

func TestDoctor_Healthy(t *testing.T) {
	t.Parallel()
	path := clinic(t)
	got := doctor(t, open(t, path, true), keep.Config{})
	want := keep.Report{Sessions: 4, Events: 12, Findings: []keep.Finding{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if !got.OK() {
		t.Error("a healthy store is not OK")
	}
}

func TestDoctor_FindsAndRebuilds(t *testing.T) {
	t.Parallel()
	const work = `(SELECT nr FROM sessions WHERE id = 'cli:work')`
	const queue = `(SELECT nr FROM sessions WHERE id = 'cli:queue')`
	const fork = `(SELECT nr FROM sessions WHERE id = 'cli:fork')`
	for name, c := range map[string]struct {
		harm string
		want []string // found
		left []string // after a rebuild
	}{
		"messages":           {harm: `UPDATE heads SET messages = messages + 5 WHERE nr = ` + work, want: []string{"cli:work counters"}},
		"turns":              {harm: `UPDATE heads SET turns = 0 WHERE nr = ` + work, want: []string{"cli:work counters"}},
		"tokens":             {harm: `UPDATE heads SET output_tokens = 9 WHERE nr = ` + work, want: []string{"cli:work counters"}},
		"last prompt":        {harm: `UPDATE heads SET last_prompt_tokens = 1 WHERE nr = ` + work, want: []string{"cli:work counters"}},
		"preview":            {harm: `UPDATE heads SET preview = 'something else' WHERE nr = ` + work, want: []string{"cli:work preview"}},
		"preview gone":       {harm: `UPDATE heads SET preview = '', preview_seq = 0 WHERE nr = ` + work, want: []string{"cli:work preview"}},
		"activity":           {harm: `UPDATE heads SET updated_at = updated_at + 1000000 WHERE nr = ` + work, want: []string{"cli:work updated_at"}},
		"activity of a fork": {harm: `UPDATE heads SET updated_at = 0 WHERE nr = ` + fork, want: []string{"cli:fork updated_at"}},
		"last seq":           {harm: `UPDATE heads SET last_seq = last_seq + 3 WHERE nr = ` + work, want: []string{"cli:work last_seq"}},
		"stranger":           {harm: `INSERT INTO participants (session, identity) VALUES (` + work + `, 'cli:eve')`, want: []string{"cli:work participants"}},
		"participant gone":   {harm: `DELETE FROM participants WHERE session = ` + work, want: []string{"cli:work participants"}},
		"too many queued":    {harm: `UPDATE heads SET queued = 7 WHERE nr = ` + queue, want: []string{"cli:queue queued"}},
		"forgotten inputs":   {harm: `UPDATE heads SET queued = 0 WHERE nr = ` + queue, want: []string{"cli:queue queued"}},
		"several": {
			harm: `UPDATE heads SET messages = 0, queued = 1; DELETE FROM participants`,
			want: []string{
				"cli:fork queued", "cli:plain queued", "cli:queue queued",
				"cli:work counters", "cli:work participants", "cli:work queued",
			},
		},
		"what one rebuild repairs": { // only the store itself sees that the end of the log is not read
			harm: `UPDATE heads SET last_seq = 1, messages = 9, preview = 'x', preview_seq = 1, queued = 2 WHERE nr = ` + work + `;
				INSERT INTO participants (session, identity) VALUES (` + work + `, 'cli:eve'), (99, 'cli:eve')`,
			want: []string{
				" orphan", "cli:work counters", "cli:work last_seq", "cli:work participants", "cli:work preview", "cli:work queued", "cli:work updated_at",
			},
			left: []string{" orphan"},
		},
		"forgotten inputs and more": {
			harm: `UPDATE heads SET queued = 0, messages = 9 WHERE nr = ` + queue,
			want: []string{"cli:queue counters", "cli:queue queued"},
		},
		"forgotten inputs and a log that is not read": {
			harm: `UPDATE heads SET queued = 0, last_seq = 3 WHERE nr = ` + queue,
			want: []string{"cli:queue last_seq", "cli:queue queued"},
		},
		"event gone": {
			harm: `DELETE FROM events WHERE id = ` + work + ` << 32 | 3`,
			want: []string{"cli:work gap"}, left: []string{"cli:work gap"},
		},
		"event that cannot be decoded": {
			harm: `UPDATE events SET body = '{"role":"robot"}' WHERE id = ` + work + ` << 32 | 7`,
			want: []string{"cli:work event"}, left: []string{"cli:work event"},
		},
		"positions out of order": {
			harm: `UPDATE events SET pos = 1000 WHERE id = ` + work + ` << 32 | 1`,
			want: []string{"cli:work order"}, left: []string{"cli:work order"},
		},
		"ended and still current": {
			harm: `UPDATE sessions SET ended_at = 1, ended_reason = 'reset' WHERE id = 'cli:work'`,
			want: []string{"cli:work key"}, left: []string{"cli:work key"},
		},
		"key gone": {
			harm: `DELETE FROM keys WHERE key = 'sk_v1_plain'`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
		"orphan": {
			harm: `INSERT INTO participants (session, identity) VALUES (99, 'cli:eve')`,
			want: []string{" orphan"}, left: []string{" orphan"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := clinic(t)
			harm(t, path, c.harm)

			reader := open(t, path, true)
			report := doctor(t, reader, keep.Config{})
			if diff := cmp.Diff(c.want, named(report), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("found (-want +got):\n%s\n%+v", diff, report.Findings)
			}
			if report.OK() || report.Found != int64(len(c.want)) || report.Remaining != report.Found || report.Fixed != 0 {
				t.Errorf("counts are wrong: %+v", report)
			}
			for _, f := range report.Findings {
				if f.Detail == "" || f.Advice == "" || f.Fixed {
					t.Errorf("finding %+v needs a detail and an advice", f)
				}
				if left := slices.Contains(c.left, string(f.Session)+" "+f.Kind); f.Rebuildable == left {
					t.Errorf("finding %+v is said to be rebuildable: %v", f, f.Rebuildable)
				}
			}
			if err := reader.Close(); err != nil {
				t.Fatal(err)
			}

			store := open(t, path, false)
			report = doctor(t, store, keep.Config{Rebuild: true})
			if diff := cmp.Diff(c.want, named(report), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("a rebuild found other problems than a look (-want +got):\n%s", diff)
			}
			var left []string
			for _, f := range report.Findings {
				if !f.Fixed {
					left = append(left, string(f.Session)+" "+f.Kind)
				} else if f.Advice != "" {
					t.Errorf("finding %+v is fixed and still has an advice", f)
				}
			}
			if diff := cmp.Diff(c.left, left, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("left after a rebuild (-want +got):\n%s", diff)
			}
			if report.Found != int64(len(c.want)) || report.Fixed != int64(len(c.want)-len(c.left)) || report.Remaining != int64(len(c.left)) {
				t.Errorf("counts are wrong: %+v", report)
			}
			if again := doctor(t, store, keep.Config{}); len(again.Findings) != len(c.left) {
				t.Errorf("a second look finds %v, want %v", named(again), c.left)
			}
		})
	}
}

func TestDoctor_DamagedFile(t *testing.T) {
	t.Parallel()
	path := clinic(t)
	// The root pages of these hold their rows; all of them become zeros.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for page := int64(3); page < 20; page++ {
		if _, err := f.WriteAt(make([]byte, 2048), (page-1)*4096); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := keep.Doctor(t.Context(), open(t, path, true), keep.Config{})
	if err != nil {
		t.Fatalf("damage is an error instead of a report: %v", err)
	}
	if report.OK() {
		t.Error("a store with empty pages is said to be well")
	}
}

func TestDoctor_ManyPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	store := open(t, path, false)
	const sessions, events = 1200, 1300 // more than a page of each
	for from := 0; from < sessions; from += 200 {
		commit(t, store, crowd(from, from+200))
	}
	long := parley.SessionChange{Session: numbered(0)}
	for range events {
		long.Events = append(long.Events, parley.NewEvent{Body: &parley.Updated{Fields: []string{"title"}}})
	}
	commit(t, store, parley.Batch{At: noon, Sessions: []parley.SessionChange{long}})

	var last, total int64
	report := doctor(t, store, keep.Config{Workers: 3, ProgressFunc: func(step string, done, of int64) {
		if step == "checking sessions" {
			last, total = done, of
		}
	}})
	if report.Sessions != sessions || report.Events != events || !report.OK() {
		t.Errorf("checked %d sessions, %d events, found %d problems", report.Sessions, report.Events, report.Found)
	}
	if last != sessions || total != sessions {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// A store may hold nothing but sessions: no keys, no people.
func TestDoctor_NothingBesides(t *testing.T) {
	t.Parallel()
	store := open(t, filepath.Join(t.TempDir(), "parley.db"), false)
	commit(t, store, parley.Batch{At: noon, Sessions: []parley.SessionChange{{Session: "cli:work", Create: fresh("")}}})
	commit(t, store, parley.Batch{At: noon, Identities: []parley.IdentityChange{{Identity: parley.Identity{ID: "cli:ada"}}}})
	if report := doctor(t, store, keep.Config{}); !report.OK() {
		t.Errorf("found %+v", report.Findings)
	}
}

func TestDoctor_ListsAtMostSoMany(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parley.db")
	store := open(t, path, false)
	const sessions = keep.MaxFindings + 5
	commit(t, store, crowd(0, sessions))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	harm(t, path, `UPDATE heads SET messages = 1`)
	report := doctor(t, open(t, path, true), keep.Config{})
	if len(report.Findings) != keep.MaxFindings || report.Found != sessions || report.Remaining != sessions {
		t.Errorf("listed %d, found %d, remaining %d", len(report.Findings), report.Found, report.Remaining)
	}

	// What is not listed is rebuilt and counted like the rest, also if only the store itself sees it.
	store = open(t, path, false)
	events := parley.Batch{At: noon}
	for i := range sessions {
		e := parley.NewEvent{Body: &parley.Updated{Fields: []string{"title"}}}
		events.Sessions = append(events.Sessions, parley.SessionChange{Session: numbered(i), Events: []parley.NewEvent{e}})
	}
	commit(t, store, events)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	harm(t, path, `UPDATE heads SET last_seq = 0`)
	const all = 2 * sessions // the messages and the ends
	report = doctor(t, open(t, path, false), keep.Config{Rebuild: true})
	if len(report.Findings) != keep.MaxFindings || report.Found != all || report.Fixed != all || report.Remaining != 0 {
		t.Errorf("of a rebuild: listed %d, found %d, fixed %d, remaining %d", len(report.Findings), report.Found, report.Fixed, report.Remaining)
	}
}

func TestDoctor_Fails(t *testing.T) {
	t.Parallel()
	path := clinic(t)
	harm(t, path, `UPDATE heads SET messages = 99`)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := open(t, path, true)
	if _, err := keep.Doctor(ctx, store, keep.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled check gives %v", err)
	}
	if _, err := keep.Doctor(t.Context(), store, keep.Config{Rebuild: true}); !errors.Is(err, parley.ErrUnavailable) {
		t.Errorf("rebuilding a store that is open for reading gives %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := keep.Doctor(t.Context(), store, keep.Config{}); !errors.Is(err, parley.ErrUnavailable) {
		t.Errorf("checking a closed store gives %v", err)
	}
}
