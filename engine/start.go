package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// begun is a turn whose start is durable, and whose slot is taken.
type begun struct {
	session   parley.Session // as it was before the start
	turn      parley.Turn
	fence     parley.Fence
	lastSeq   uint64
	inputs    []parley.Input
	fresh     bool   // nothing was done in it yet
	system    string // the prompt, if it was written for the start
	principal parley.Principal
	journal   *Journal // of the run, once it has one
	unawaited bool     // nobody waits for the commit that closes it
	completed bool     // that commit was made
	// spentFunc closes the account of the run, if it has one.
	spentFunc func(completed bool)
}

// asked reports whether somebody was asked something by this run.
func (b *begun) asked() bool {
	if b.journal == nil {
		return false
	}
	b.journal.mu.Lock()
	defer b.journal.mu.Unlock()
	return b.journal.asked
}

// start starts a turn over inputs that wait. It gives nil if the turn ended with
// its start, because the session has had its share.
func (l *lane) start(ctx context.Context, s parley.Session, inputs []parley.Input) (*begun, error) {
	p, err := l.plan(ctx, s, inputs, nil)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		p.change.Inputs = append(p.change.Inputs, parley.InputChange{Ref: in.Ref, State: parley.InputRunning, Turn: p.turn.ID})
	}
	expect := []parley.Expectation{parley.FenceIs{Session: s.ID, Fence: s.Fence}}
	for _, in := range inputs {
		expect = append(expect, parley.InputIs{Ref: in.Ref, State: parley.InputQueued})
	}
	b, _, err := l.commitStart(ctx, p, expect)
	return b, err
}

// plan is the start of a turn, as it will be written.
type plan struct {
	session parley.Session
	turn    parley.Turn
	inputs  []parley.Input
	change  parley.SessionChange
	prompt  parley.Prompt
	refused *parley.TurnError // the turn ends with its start
	audit   []parley.AuditEntry
}

// promptFacts are what the store knows besides the session that a prompt is made from.
type promptFacts struct {
	notices []parley.Notice
	people  []parley.Identity
}

// facts reads what a prompt for a session is made from. Who takes part is read if it is nil.
func (e *Engine) facts(ctx context.Context, id parley.SessionID, takePart []parley.IdentityID) (*promptFacts, error) {
	var f promptFacts
	err := e.store.View(ctx, func(ctx context.Context) (err error) {
		if f.notices, err = e.store.Notices(ctx, parley.SeeAll(), id); err != nil {
			return err
		}
		f.people, err = e.promptPeople(ctx, id, takePart)
		return err
	})
	return &f, err
}

// plan plans a turn over inputs. Facts are read if they are nil.
func (e *Engine) plan(ctx context.Context, s parley.Session, inputs []parley.Input, facts *promptFacts) (plan, error) {
	if facts == nil {
		var err error
		if facts, err = e.facts(ctx, s.ID, nil); err != nil {
			return plan{}, err
		}
	}
	now := e.cfg.Clock.Now()
	prompt, err := e.prompt(ctx, parley.PromptContext{
		Session: s, Principal: inputs[0].Principal, People: facts.people, Notices: facts.notices, At: now,
	})
	if err != nil {
		return plan{}, err
	}
	turn := parley.Turn{ID: parley.TurnID("t_" + e.cfg.IDFunc()), Session: s.ID, State: parley.TurnRunning, Attempt: 1, StartedAt: now, Prompt: prompt.Ref}
	running := parley.StatusRunning
	p := plan{session: s, turn: turn, inputs: inputs, prompt: prompt, change: parley.SessionChange{
		Session: s.ID, Claim: true,
		Patch:  parley.SessionPatch{Status: &running},
		Turns:  []parley.TurnChange{{ID: turn.ID, Start: true}},
		Events: []parley.NewEvent{{Turn: turn.ID, Body: &parley.TurnStarted{Attempt: 1, Prompt: prompt.Ref}}},
	}}
	if prompt.Ref != (parley.PromptRef{}) {
		p.change.Turns[0].Prompt = &prompt.Ref
	}
	for _, n := range facts.notices {
		p.change.Notices = append(p.change.Notices, parley.NoticeChange{Consume: n.ID})
	}
	if prompt.Preface != "" {
		// A message of its own: one that somebody wrote may be as long as it can be.
		p.change.Events = append(p.change.Events, parley.NewEvent{Turn: turn.ID, Body: &parley.Message{
			ID: string(turn.ID) + ".note", Role: parley.MessageUser, Parts: []parley.Part{{Kind: parley.PartText, Note: true, Text: prompt.Preface}},
		}})
	}
	for i := range inputs {
		m := messageOf(s, &inputs[i], string(turn.ID)+".in."+fmt.Sprint(i+1))
		p.change.Events = append(p.change.Events, parley.NewEvent{Turn: turn.ID, Identity: inputs[i].Principal.Identity, Body: m})
	}
	if counted(inputs) && s.Counters.Turns >= int64(e.cfg.Limits.MaxTurns) {
		p.refused = &parley.TurnError{Code: "turn_limit", Message: fmt.Sprintf(
			"This conversation has had %d turns, which is its limit. Start a new one with /new; this one stays as it is.", s.Counters.Turns)}
		e.refuse(&p)
	}
	return p, nil
}

// promptPeople gives who takes part, for the prompt; the ids are read if they are nil. Without a
// prompter nobody asks, and nothing is read.
func (e *Engine) promptPeople(ctx context.Context, id parley.SessionID, ids []parley.IdentityID) (people []parley.Identity, err error) {
	if e.cfg.Prompter == nil {
		return nil, nil
	}
	err = e.store.View(ctx, func(ctx context.Context) (err error) {
		if ids == nil {
			if ids, err = e.store.Participants(ctx, parley.SeeAll(), id); err != nil {
				return err
			}
		}
		people, err = e.identities(ctx, ids)
		return err
	})
	return people, err
}

// prompt writes what a turn tells the model besides what people said. Without a
// prompter that is the notices alone.
func (e *Engine) prompt(ctx context.Context, p parley.PromptContext) (parley.Prompt, error) {
	if e.cfg.Prompter == nil {
		var lines []string
		for _, n := range p.Notices {
			lines = append(lines, "[Notice: "+strings.TrimSpace(n.Text)+"]")
		}
		return parley.Prompt{Preface: strings.Join(lines, "\n")}, nil
	}
	prompt, err := e.cfg.Prompter.Prompt(ctx, p)
	if err != nil {
		return parley.Prompt{}, fmt.Errorf("write the prompt: %w", err)
	}
	return prompt, nil
}

// messageOf gives the message that shows an input to the model.
func messageOf(s parley.Session, in *parley.Input, id string) *parley.Message {
	m := &parley.Message{
		ID: id, Role: parley.MessageUser, Parts: in.Parts, Inputs: []parley.InputRef{in.Ref},
		Undirected: s.Type == parley.SessionGroup && !in.Mentioned,
	}
	if in.Sender != (parley.Sender{}) {
		sender := in.Sender
		m.Sender = &sender
	}
	return m
}

// counted reports whether a turn over these inputs counts against the session's
// limit.
func counted(inputs []parley.Input) bool {
	for i := range inputs {
		if inputs[i].Kind == parley.InputMessage || inputs[i].Kind == parley.InputCommand {
			return true
		}
	}
	return false
}

// refuse makes a plan end with its start.
func (e *Engine) refuse(p *plan) {
	idle, done, reason := parley.StatusIdle, parley.TurnDone, parley.StopError
	p.change.Patch.Status = &idle
	p.change.Turns = append(p.change.Turns, parley.TurnChange{ID: p.turn.ID, State: &done, StopReason: &reason})
	p.change.Events = append(p.change.Events,
		parley.NewEvent{Turn: p.turn.ID, Body: forPeople(string(p.turn.ID)+".end", p.refused.Message)},
		parley.NewEvent{Turn: p.turn.ID, Identity: p.inputs[0].Principal.Identity, Body: &parley.TurnCompleted{StopReason: reason, Error: p.refused, Uncounted: true}},
	)
}

// forPeople is a message that models are not shown.
func forPeople(id, text string) *parley.Message {
	return &parley.Message{ID: id, Role: parley.MessageSystem, Hidden: true, Parts: []parley.Part{parley.TextPart(text)}}
}

// commitStart writes a planned start.
func (e *Engine) commitStart(ctx context.Context, p plan, expect []parley.Expectation) (*begun, parley.Result, error) {
	if p.refused != nil {
		for i := range p.change.Inputs {
			p.change.Inputs[i].State = parley.InputDone
		}
	}
	result, err := e.store.Commit(ctx, parley.Batch{At: p.turn.StartedAt, Audit: p.audit, Expect: expect, Sessions: []parley.SessionChange{p.change}})
	if err != nil || p.refused != nil || result.Duplicate != nil {
		return nil, result, err
	}
	return &begun{
		session: p.session, turn: p.turn, fence: result.Sessions[0].Fence, lastSeq: result.Sessions[0].LastSeq,
		inputs: p.inputs, fresh: true, system: p.prompt.System, principal: p.inputs[0].Principal,
	}, result, nil
}
