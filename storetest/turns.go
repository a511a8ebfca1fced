package storetest

import (
	"time"

	"github.com/parley-run/parley"
)

var turnTests = []test{
	{"a turn starts running, at attempt 1", func(f *fixture) {
		f.change(newSession(home))
		f.change(startTurn(home, "t1"))
		f.equal("turn", parley.Turn{
			ID: "t1", Session: home, State: parley.TurnRunning, Attempt: 1, StartedAt: f.now, UpdatedAt: f.now,
		}, f.turn())
	}},
	{"a change sets the fields it has", changeTurns},
	{"an id that is taken is a conflict, an unknown one not found", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(startTurn(home, "t1"))
		f.refuseChange(parley.CodeConflict, startTurn(home, "t1"))
		cancel := []parley.TurnChange{{ID: "t1", Cancel: true}}
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{Session: away, Turns: cancel})
		cancel[0].ID = "t2"
		f.refuseChange(parley.CodeNotFound, parley.SessionChange{Session: home, Turns: cancel})
		f.change(startTurn(away, "t1"))
		f.change(parley.SessionChange{Session: home, Turns: []parley.TurnChange{{ID: "t1", State: new(parley.TurnDone)}}})
		f.refuseChange(parley.CodeConflict, startTurn(home, "t1"))
		_, err := f.store.Turn(f.Context(), all, home, "t2")
		f.code("Turn", parley.CodeNotFound, err)
	}},
	{"a completed turn loses its journal and its opaque state", func(f *fixture) {
		f.change(newSession(home))
		c := startTurn(home, "t1")
		c.Turns[0].Opaque = []byte{0, 1, 2}
		c.Calls = []parley.CallChange{{Turn: "t1", ID: "c1", Tool: "shell", State: parley.CallStarted}}
		f.change(c)
		f.equal("opaque", []byte{0, 1, 2}, f.turn().Opaque)
		f.change(parley.SessionChange{Session: home, Turns: []parley.TurnChange{{
			ID: "t1", State: new(parley.TurnDone), StopReason: new(parley.StopDone), Opaque: []byte("late"),
		}}})
		f.equal("opaque", []byte(nil), f.turn().Opaque)
		f.equal("journal", []parley.Call(nil), f.calls("t1"))
		f.refuseChange(parley.CodeConflict, parley.SessionChange{Session: home, Turns: []parley.TurnChange{{ID: "t1", Cancel: true}}})
	}},
	{"open turns come by session and id", func(f *fixture) {
		f.change(newSession("web:first"), newSession("cli:second"))
		f.change(startTurn("cli:second", "t2"), startTurn("web:first", "t9"))
		f.change(startTurn("cli:second", "t1"), startTurn("web:first", "t3"))
		f.change(startTurn("cli:second", "t3"))
		f.change(parley.SessionChange{Session: "cli:second", Turns: []parley.TurnChange{
			{ID: "t2", State: new(parley.TurnDone)}, {ID: "t1", State: new(parley.TurnAwaitingApproval)},
		}})
		f.equal("all", []parley.TurnID{"t3", "t9", "t1", "t3"}, openTurnIDs(f, ""))
		f.equal("of one session", []parley.TurnID{"t1", "t3"}, openTurnIDs(f, "cli:second"))
	}},
	{"the journal keeps calls in the order they started", func(f *fixture) {
		f.change(newSession(home))
		f.change(startTurn(home, "t1"), newSession(away))
		f.change(journal(home, "t1", "c2", parley.CallStarted, ""), startTurn(away, "t1"))
		begun := f.now
		f.change(journal(home, "t1", "c1", parley.CallStarted, ""), journal(away, "t1", "c1", parley.CallStarted, ""))
		f.change(journal(home, "t1", "c2", parley.CallFinished, `{"n":1.50}`))
		f.equal("calls", []parley.Call{
			{Turn: "t1", ID: "c2", Tool: "shell", State: parley.CallFinished, Result: []byte(`{"n":1.50}`), StartedAt: begun},
			{Turn: "t1", ID: "c1", Tool: "shell", State: parley.CallStarted, StartedAt: begun.Add(time.Second)},
		}, f.calls("t1"))
		f.change(journal(home, "t1", "c1", parley.CallUnknown, ""))
		f.equal("state", parley.CallUnknown, f.calls("t1")[1].State)
	}},
	{"the journal refuses what cannot have happened", func(f *fixture) {
		f.change(newSession(home), newSession(away))
		f.change(startTurn(home, "t1"))
		f.refuseChange(parley.CodeNotFound, journal(home, "t0", "c1", parley.CallStarted, ""))
		f.refuseChange(parley.CodeNotFound, journal(away, "t1", "c1", parley.CallStarted, ""))
		f.refuseChange(parley.CodeNotFound, journal(home, "t1", "c1", parley.CallFinished, `1`))
		f.refuseChange(parley.CodeNotFound, journal(home, "t1", "c1", parley.CallUnknown, ""))
		f.change(journal(home, "t1", "c1", parley.CallStarted, ""))
		f.refuseChange(parley.CodeConflict, journal(home, "t1", "c1", parley.CallStarted, ""))
		f.change(journal(home, "t1", "c1", parley.CallFinished, `1`))
		for _, state := range []parley.CallState{parley.CallStarted, parley.CallFinished, parley.CallUnknown} {
			f.refuseChange(parley.CodeConflict, journal(home, "t1", "c1", state, ""))
		}
		f.change(parley.SessionChange{Session: home, Turns: []parley.TurnChange{{ID: "t1", State: new(parley.TurnDone)}}})
		f.refuseChange(parley.CodeConflict, journal(home, "t1", "c2", parley.CallStarted, ""))
		_, err := f.store.Calls(f.Context(), all, home, "t0")
		f.code("Calls of an unknown turn", parley.CodeNotFound, err)
	}},
	{"a turn may start and end in one batch", func(f *fixture) {
		c := newSession(home)
		c.Turns = []parley.TurnChange{{ID: "t1", Start: true}, {ID: "t1", State: new(parley.TurnDone)}}
		f.change(c)
		f.equal("state", parley.TurnDone, f.turn().State)
	}},
}

func changeTurns(f *fixture) {
	f.change(newSession(home))
	f.change(startTurn(home, "t1"))
	want := f.turn()
	usage := parley.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, CostMicroUSD: 5}
	prompt := parley.PromptRef{ID: "p", Version: 2, SHA256: "ab"}
	later := startOfTime.Add(time.Hour)
	for _, c := range []struct {
		change parley.TurnChange
		apply  func(*parley.Turn)
	}{
		{parley.TurnChange{State: new(parley.TurnParked), ParkedUntil: &later}, func(t *parley.Turn) {
			t.State, t.ParkedUntil = parley.TurnParked, later
		}},
		{parley.TurnChange{Attempt: new(2)}, func(t *parley.Turn) { t.Attempt = 2 }},
		{parley.TurnChange{ParkedUntil: &time.Time{}}, func(t *parley.Turn) { t.ParkedUntil = time.Time{} }},
		{parley.TurnChange{Cancel: true}, func(t *parley.Turn) { t.CancelRequested = true }},
		{parley.TurnChange{Cancel: false}, func(*parley.Turn) {}},
		{parley.TurnChange{Prompt: &prompt}, func(t *parley.Turn) { t.Prompt = prompt }},
		{parley.TurnChange{Usage: &usage}, func(t *parley.Turn) { t.Usage = usage }},
		{parley.TurnChange{Opaque: []byte{0xff, 0}}, func(t *parley.Turn) { t.Opaque = []byte{0xff, 0} }},
		{parley.TurnChange{Opaque: nil}, func(*parley.Turn) {}},
		{parley.TurnChange{Opaque: []byte{}}, func(t *parley.Turn) { t.Opaque = nil }},
		{parley.TurnChange{StopReason: new(parley.StopLength), State: new(parley.TurnDone)}, func(t *parley.Turn) {
			t.StopReason, t.State = parley.StopLength, parley.TurnDone
		}},
	} {
		c.change.ID = "t1"
		f.change(parley.SessionChange{Session: home, Turns: []parley.TurnChange{c.change}})
		c.apply(&want)
		want.UpdatedAt = f.now
		f.equal("after "+describe(c.change), want, f.turn())
	}
}

// journal writes a call to the journal of a turn.
func journal(
	id parley.SessionID, turn parley.TurnID, call parley.CallID, state parley.CallState, result string,
) parley.SessionChange {
	return parley.SessionChange{Session: id, Calls: []parley.CallChange{
		{Turn: turn, ID: call, Tool: "shell", State: state, Result: []byte(result)},
	}}
}

func openTurnIDs(f *fixture, id parley.SessionID) []parley.TurnID {
	f.Helper()
	turns, err := f.store.OpenTurns(f.Context(), all, id)
	f.code("OpenTurns", "", err)
	var ids []parley.TurnID
	for _, t := range turns {
		ids = append(ids, t.ID)
	}
	return ids
}
