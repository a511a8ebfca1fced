package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

// committer is a foreign runner with one tool, which needs approval.
type committer struct {
	ran  chan struct{}
	said func(parley.TurnContext) // called when the question is asked
	wait time.Duration
	deft parley.ApprovalState
}

func newCommitter() *committer {
	return &committer{ran: make(chan struct{}, 10), wait: 10 * time.Minute, deft: parley.ApprovalDenied}
}

func (c *committer) Run(ctx context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	call := parley.ToolCall{ID: parley.CallID(string(t.Turn.ID) + "_c"), Name: "commit", Arguments: json.RawMessage(`{}`)}
	said := parley.Said{Message: parley.Message{ID: string(t.Turn.ID) + ".call", Role: parley.MessageAssistant, Parts: []parley.Part{{Kind: parley.PartToolCall, Call: &call}}}}
	said.Ask = []parley.CallQuestion{{Call: call.ID, Deadline: c.wait, Default: c.deft}}
	if err := t.Journal.Say(ctx, said); err != nil {
		return parley.TurnEnd{}, err
	}
	if c.said != nil {
		c.said(t)
	}
	result, err := t.Journal.Call(ctx, call, func(context.Context) (parley.ToolResult, error) {
		c.ran <- struct{}{}
		return parley.ToolResult{Text: "done"}, nil
	})
	if err != nil {
		return parley.TurnEnd{}, err
	}
	return ends(t, result.Text[:4]), nil
}

// call waits for the question, and gives the call it is about.
func (s *stage) call(id parley.SessionID) parley.CallID {
	s.t.Helper()
	events := s.has(id, parley.EventApprovalRequested)
	body, err := events[len(events)-1].Decode()
	if err != nil {
		s.t.Fatal(err)
	}
	return body.(*parley.ApprovalRequested).Call
}

// waiting waits until a session waits for a person.
func (s *stage) waiting(id parley.SessionID) {
	s.t.Helper()
	s.clock.WaitForTimer(10 * time.Minute)
	session, err := s.store.Session(s.t.Context(), parley.SeeAll(), id)
	if err != nil || session.Status != parley.StatusAwaitingApproval {
		s.t.Fatalf("%+v, %v", session, err)
	}
}

func TestApprove(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		act  func(s *stage, id parley.SessionID, call parley.CallID)
		ran  int
		want string
	}{
		{"yes", func(s *stage, id parley.SessionID, call parley.CallID) {
			if err := s.eng.As(alice).Approve(s.t.Context(), id, call, true, engine.RememberOnce); err != nil {
				s.t.Fatal(err)
			}
		}, 1, ">go <(commit) =done <done |stop"},
		{"no", func(s *stage, id parley.SessionID, call parley.CallID) {
			if err := s.eng.As(alice).Approve(s.t.Context(), id, call, false, ""); err != nil {
				s.t.Fatal(err)
			}
		}, 0, ">go <(commit) =Not allowed: a person was asked and said no. <Not  |stop"},
		{"nobody answers", func(s *stage, id parley.SessionID, _ parley.CallID) {
			s.waiting(id)
			s.clock.Advance(11 * time.Minute)
		}, 0, ">go <(commit) =Not allowed: a person was asked, and nobody answered in time. <Not  |stop"},
		{"canceled", func(s *stage, id parley.SessionID, _ parley.CallID) {
			s.waiting(id)
			if ok, err := s.eng.As(alice).Cancel(s.t.Context(), id, ""); !ok || err != nil {
				s.t.Fatal(ok, err)
			}
		}, 0, ">go <(commit) |aborted"},
		{"after a restart", func(s *stage, id parley.SessionID, call parley.CallID) {
			s.waiting(id)
			s.end()
			s.start()
			s.waiting(id)
			if err := s.eng.As(alice).Approve(s.t.Context(), id, call, true, ""); err != nil {
				s.t.Fatal(err)
			}
		}, 1, ">go <(commit) =done <done |stop"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCommitter()
			s := newStage(t, engine.Config{Runner: c})
			id := s.session("a", parley.SessionDirect, "cli:alice")
			s.post(alice, id, say("1", "go"))
			call := s.call(id)
			test.act(s, id, call)
			if got := sketch(t, s.turns(id, 1)); got != test.want || len(c.ran) != test.ran {
				t.Errorf("ran %d\ngot  %s\nwant %s", len(c.ran), got, test.want)
			}
			if err := s.eng.As(alice).Approve(t.Context(), id, call, true, ""); !errors.Is(err, parley.ErrConflict) {
				t.Errorf("answered twice: %v", err)
			}
		})
	}
}

// TestApproveAtOnce answers before the turn was put off: it goes on, and nobody is
// told that a model is down.
func TestApproveAtOnce(t *testing.T) {
	t.Parallel()
	c := newCommitter()
	s := newStage(t, engine.Config{Runner: c})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	c.said = func(tc parley.TurnContext) {
		if tc.Turn.Attempt > 1 {
			return
		}
		if err := s.eng.As(alice).Approve(context.Background(), id, parley.CallID(string(tc.Turn.ID)+"_c"), true, ""); err != nil {
			t.Error(err)
		}
	}
	s.post(alice, id, say("1", "go"))
	if got := sketch(t, s.turns(id, 1)); got != ">go <(commit) =done <done |stop" {
		t.Errorf("%s", got)
	}
}

// TestCancelSettlesQuestions stops a turn in the moment when it asks.
func TestCancelSettlesQuestions(t *testing.T) {
	t.Parallel()
	c := newCommitter()
	s := newStage(t, engine.Config{Runner: c})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	c.said = func(tc parley.TurnContext) {
		if ok, err := s.eng.As(alice).Cancel(context.Background(), id, tc.Turn.ID); !ok || err != nil {
			t.Error(ok, err)
		}
	}
	s.post(alice, id, say("1", "go"))
	if got := sketch(t, s.turns(id, 1)); got != ">go <(commit) |aborted" {
		t.Errorf("%s", got)
	}
	open, err := s.store.Approvals(t.Context(), parley.SeeAll(), "")
	if err != nil || len(open) > 0 {
		t.Errorf("%+v, %v", open, err)
	}
}

// TestApprovalIsRemembered asks once in a session.
func TestApprovalIsRemembered(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: newCommitter()})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("1", "go"))
	if err := s.eng.As(alice).Approve(t.Context(), id, s.call(id), true, engine.RememberSession); err != nil {
		t.Fatal(err)
	}
	s.turns(id, 1)
	s.post(alice, id, say("2", "again"))
	if got := sketch(t, s.turns(id, 2)); got != ">go <(commit) =done <done |stop >again <(commit) =done <done |stop" {
		t.Errorf("%s", got)
	}
}

// That a tool may run for the whole session holds for whom it was asked.
func TestApprovals_RememberedForOne(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: newCommitter()})
	id := s.session("g", parley.SessionGroup, "cli:alice", "web:bob", "web:guest")
	guest := access.NewCaller(parley.Principal{Identity: "web:guest", Role: parley.RoleGuest, Via: "token"})
	s.post(bob, id, say("1", "go"))
	s.has(id, parley.EventApprovalRequested)
	approve := func() {
		t.Helper()
		pending, err := s.store.Approvals(t.Context(), parley.SeeAll(), "")
		if err != nil || len(pending) != 1 {
			t.Fatalf("%+v, %v", pending, err)
		}
		if err := s.eng.As(alice).Approve(t.Context(), id, pending[0].Call, true, engine.RememberSession); err != nil {
			t.Fatal(err)
		}
	}
	approve()
	s.turns(id, 1)
	s.post(bob, id, say("2", "go")) // not asked again
	s.turns(id, 2)
	s.post(guest, id, say("3", "go"))
	s.follow(id, func(all []parley.Event) bool {
		asked := 0
		for _, e := range all {
			if e.Type == parley.EventApprovalRequested {
				asked++
			}
		}
		return asked == 2
	})
	approve()
	s.turns(id, 3)
}
