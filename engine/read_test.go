package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/engine"
)

// What a model says to say nothing is kept, and shown to nobody: neither while it
// is written nor later.
func TestSilence(t *testing.T) {
	t.Parallel()
	const text = "Well. <NO_REPLY>"
	s := newStage(t, engine.Config{Runner: runs(func(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
		end := ends(t, text)
		for i, r := range []rune(text) {
			t.Journal.Delta(end.Last.ID, i+1, parley.PartText, string(r))
		}
		return end, nil
	})})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	streamed := make(chan string, 1)
	watching := make(chan struct{}, 1)
	go func() {
		written := ""
		for u, err := range s.eng.As(alice).Events(ctx, id, parley.Position{}) {
			if err != nil {
				break
			}
			select {
			case watching <- struct{}{}:
			default:
			}
			if u.Delta != nil {
				written += u.Delta.Text
			}
			if u.Event != nil && u.Event.Type == parley.EventTurnCompleted {
				break
			}
		}
		streamed <- written
	}()
	<-watching
	s.post(alice, id, say("1", "hi"))
	if got := <-streamed; strings.Contains(got, "<") || got != "" && got != "Well" && got != "Well." {
		t.Errorf("streamed %q", got)
	}
	raw := s.turns(id, 1)
	if !strings.Contains(sketch(t, raw), text) {
		t.Errorf("it is not kept: %s", sketch(t, raw))
	}
	shown, err := s.eng.As(alice).Log(t.Context(), id, 0, 100)
	if err != nil || strings.Contains(sketch(t, shown), "NO_REPLY") || !strings.Contains(sketch(t, shown), "<Well. |") {
		t.Errorf("%s, %v", sketch(t, shown), err)
	}
	page, err := s.eng.As(alice).Messages(t.Context(), id, 0, 10)
	if err != nil || len(page.Messages) != 2 || parley.PlainText(page.Messages[1].Message.Parts) != "Well." {
		t.Errorf("%+v, %v", page, err)
	}
	a, err := s.eng.As(alice).Answer(t.Context(), id, parley.InputRef{Origin: "test", ID: "1"})
	if err != nil || parley.PlainText(a.Message.Parts) != "Well." || a.Completed.StopReason != parley.StopDone {
		t.Errorf("%+v, %v", a, err)
	}
	session, err := s.eng.As(alice).Session(t.Context(), id)
	if err != nil || session.Preview != "Well." {
		t.Errorf("%q, %v", session.Preview, err)
	}
	opened, err := s.eng.As(alice).Open(t.Context(), engine.Opening{ID: id, Session: starting()})
	if err != nil || opened.Session.Preview != "Well." {
		t.Errorf("opened: %q, %v", opened.Session.Preview, err)
	}
	for what, does := range map[string]func() (parley.Session, error){
		"fork":   func() (parley.Session, error) { return s.eng.As(alice).Fork(t.Context(), id, 0) },
		"resume": func() (parley.Session, error) { return s.eng.As(alice).Resume(t.Context(), id) },
	} {
		if got, err := does(); err != nil || strings.Contains(got.Preview, "NO_REPLY") {
			t.Errorf("%s: %q, %v", what, got.Preview, err)
		}
	}
}

func TestMessages_Pages(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	for i := range 7 {
		s.post(alice, id, say(fmt.Sprint(i), fmt.Sprint(i)))
		s.turns(id, i+1)
	}
	var got []string
	for before := uint64(0); ; {
		page, err := s.eng.As(alice).Messages(t.Context(), id, before, 4)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range page.Messages {
			texts = append(texts, parley.PlainText(m.Message.Parts))
		}
		got = append(texts, got...)
		if before = page.Before; before == 0 {
			break
		}
	}
	if want := "0 re:0 1 re:1 2 re:2 3 re:3 4 re:4 5 re:5 6 re:6"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}

// Somebody who waits for an answer learns of every way in which an input ends.
func TestAnswer_EveryEnd(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h})
	session := s.opens("work")
	id := session.ID
	s.post(alice, id, say("1", "a"))
	<-h.began
	s.post(alice, id, say("2", "b"))
	s.post(alice, id, say("3", "c"))
	answer := func(ref string) chan engine.Answer {
		out := make(chan engine.Answer, 1)
		go func() {
			a, err := s.eng.As(alice).Answer(t.Context(), id, parley.InputRef{Origin: "test", ID: ref})
			if err != nil {
				t.Error(err)
			}
			out <- a
		}()
		return out
	}
	one, two, three := answer("1"), answer("2"), answer("3")
	if ok, err := s.eng.As(alice).Withdraw(t.Context(), id, parley.InputRef{Origin: "test", ID: "2"}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if a := <-two; a.Input.State != parley.InputDropped || a.Turn != "" {
		t.Errorf("%+v", a)
	}
	if _, err := s.eng.As(alice).Reset(t.Context(), id, engine.Anew{}); err != nil {
		t.Fatal(err)
	}
	if a := <-three; a.Input.State != parley.InputDropped {
		t.Errorf("%+v", a)
	}
	if a := <-one; a.Completed == nil || a.Completed.StopReason != parley.StopAborted || parley.PlainText(a.Message.Parts) != "half" {
		t.Errorf("%+v", a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	next := s.opens("work")
	s.post(alice, next.ID, say("4", "d"))
	<-h.began
	cancel()
	if _, err := s.eng.As(alice).Answer(ctx, next.ID, parley.InputRef{Origin: "test", ID: "4"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	h.let <- struct{}{}
	s.turns(next.ID, 1)
}

// An owner who looks into a session of others is written down once an hour, and for
// everything they change.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := newStage(t, engine.Config{Runner: runs(echo)})
	id := s.session("b", parley.SessionDirect, "web:bob")
	own := s.session("a", parley.SessionDirect, "cli:alice")
	owner := s.eng.As(alice)
	for range 3 {
		for _, session := range []parley.SessionID{id, own} {
			if _, err := owner.Session(t.Context(), session); err != nil {
				t.Fatal(err)
			}
			if _, err := owner.Messages(t.Context(), session, 0, 10); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.eng.As(bob).Session(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	title := "x"
	if _, err := owner.Patch(t.Context(), id, engine.Changes{Title: &title}); err != nil {
		t.Fatal(err)
	}
	if err := owner.SetParticipant(t.Context(), own, "web:bob", true); err != nil {
		t.Fatal(err)
	}
	entries, err := s.store.Audit(t.Context(), parley.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Action, e.Actor, e.Session, e.Subject))
	}
	want := "session_participants cli:alice cli:a web:bob, session_patch cli:alice cli:b , session_read cli:alice cli:b "
	if strings.Join(got, ", ") != want {
		t.Errorf("%q", got)
	}
	if people, err := s.eng.As(bob).Participants(t.Context(), own); err != nil || len(people) != 2 {
		t.Errorf("%+v, %v", people, err)
	}
	if _, err := owner.Patch(t.Context(), id, engine.Changes{Metadata: map[string]string{"parley.model": "x"}}); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// A message as long as it can be is answered like any other, whatever the runtime
// adds to its turn; what could not be shown to the model is refused at once.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	h := newHeld()
	s := newStage(t, engine.Config{Runner: h, Prompter: prefaces{}})
	id := s.session("a", parley.SessionDirect, "cli:alice")
	s.post(alice, id, say("0", "first"))
	<-h.began
	accepted := 0
	for i, less := range []int{600, 300, 250, 200, 160, 130, 100, 60, 0} {
		_, err := s.eng.As(alice).Post(t.Context(), id, say(fmt.Sprint(i+1), strings.Repeat("a", parley.MaxBodyBytes-less)))
		switch {
		case err == nil:
			accepted++
		case !errors.Is(err, parley.ErrTooLarge):
			t.Errorf("%d: %v", less, err)
		}
	}
	if accepted == 0 || accepted == 9 {
		t.Errorf("%d were taken", accepted)
	}
	for range accepted + 1 {
		h.let <- struct{}{}
	}
	s.turns(id, accepted+1)
	note := parley.Part{Kind: parley.PartText, Text: "x", Note: true}
	if _, err := s.eng.As(alice).Post(t.Context(), id, parley.Input{Parts: []parley.Part{note}}); !errors.Is(err, parley.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// prefaces is a prompter with much to say.
type prefaces struct{}

func (prefaces) Prompt(context.Context, parley.PromptContext) (parley.Prompt, error) {
	return parley.Prompt{System: "be kind", Preface: strings.Repeat("n", 100_000), Ref: parley.PromptRef{ID: "p", Version: 1}}, nil
}
