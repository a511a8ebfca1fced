package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/command"
	"github.com/parley-run/parley/lifecycle"
)

// errands says how each command is carried out. One that changes something makes
// its change through [errand.riding]; the others give their answer.
var errands = map[string]func(*errand, context.Context) (string, error){
	command.NameNew:      (*errand).anew,
	command.NameReset:    (*errand).reset,
	command.NameResume:   (*errand).resume,
	command.NameSessions: (*errand).sessions,
	command.NameTitle:    (*errand).title,
	command.NameUndo:     (*errand).undo,
	command.NameRetry:    (*errand).retry,
	command.NameFork:     (*errand).fork,
	command.NameStop:     (*errand).stop,
	command.NameQueue:    (*errand).queue,
	command.NameSteer:    (*errand).steer,
	command.NameBusy:     (*errand).busy,
	command.NameHelp:     (*errand).help,
	command.NameStatus:   (*errand).status,
	command.NameUsage:    (*errand).usage,
	command.NameModel:    (*errand).model,
}

func (e *errand) anew(ctx context.Context) (string, error) {
	title, err := command.ParseNew(e.command.Args)
	if err != nil {
		return "", err
	}
	_, err = e.riding(func(b *parley.Batch) string { return command.NewText(created(b), e.at.ID, dropped(b)) }).
		Reset(ctx, e.at.ID, Anew{Title: title, Carry: lifecycle.CarryNone})
	return "", err
}

func (e *errand) reset(ctx context.Context) (string, error) {
	if err := command.ParseNone(e.command.Name, e.command.Args); err != nil {
		return "", err
	}
	_, err := e.riding(func(b *parley.Batch) string { return command.ResetText(e.at.ID, dropped(b)) }).
		Reset(ctx, e.at.ID, Anew{Carry: lifecycle.CarryNone})
	return "", err
}

func (e *errand) title(ctx context.Context) (string, error) {
	title, show, err := command.ParseTitle(e.command.Args)
	if err != nil || show {
		return command.TitleText(e.at.Title.Text), err
	}
	_, err = e.riding(func(*parley.Batch) string { return command.TitledText(title) }).Patch(ctx, e.at.ID, Changes{Title: &title})
	return command.TitledText(title), err
}

func (e *errand) undo(ctx context.Context) (string, error) {
	turns, err := command.ParseUndo(e.command.Args)
	if err != nil {
		return "", err
	}
	_, err = e.riding(func(*parley.Batch) string { return command.UndoText(e.rider.undone.Turns, e.rider.undone.Text) }).Rewind(ctx, e.at.ID, turns)
	return "", err
}

// retry takes the last turn back, and says again what was said in it, in one
// commit.
func (e *errand) retry(ctx context.Context) (string, error) {
	if err := command.ParseNone(e.command.Name, e.command.Args); err != nil {
		return "", err
	}
	e.rider.again = true
	e.rider.changeFunc = func(c *parley.SessionChange) {
		again := e.rider.input
		again.Ref.ID = e.rider.answerID + ".again"
		again.Kind, again.State, again.Decision = parley.InputMessage, parley.InputQueued, "said again"
		again.Parts, again.Mentioned = e.rider.undone.said, true
		c.Admit = append(c.Admit, again)
	}
	_, err := e.riding(func(*parley.Batch) string { return command.RetryText(e.rider.undone.Text) }).Rewind(ctx, e.at.ID, 1)
	if err == nil {
		e.by.engine.wake(e.at.ID)
	}
	return "", err
}

func (e *errand) fork(ctx context.Context) (string, error) {
	seq, err := command.ParseFork(e.command.Args)
	if err != nil {
		return "", err
	}
	_, err = e.riding(func(b *parley.Batch) string { return command.ForkText(created(b)) }).Fork(ctx, e.at.ID, seq)
	return "", err
}

func (e *errand) stop(ctx context.Context) (string, error) {
	if err := command.ParseNone(e.command.Name, e.command.Args); err != nil {
		return "", err
	}
	view := command.StopView{Stopped: true, Suspended: e.by.engine.cfg.StopSuspends, Waiting: e.at.Queued}
	if view.Suspended {
		e.rider.changeFunc = func(c *parley.SessionChange) {
			c.Patch.Recovery = &parley.Recovery{State: parley.RecoverySuspended, Reason: "stopped", At: e.by.engine.cfg.Clock.Now()}
		}
	}
	_, err := e.riding(func(*parley.Batch) string { return command.StopText(view) }).Cancel(ctx, e.at.ID, "")
	return command.StopText(command.StopView{Waiting: e.at.Queued}), err
}

func (e *errand) queue(ctx context.Context) (string, error) {
	waiting, err := e.by.Waiting(ctx, e.at.ID)
	return command.QueueText(waiting), err
}

func (e *errand) steer(context.Context) (string, error) {
	_, err := command.ParseSteer(e.command.Args)
	return "", err
}

func (e *errand) busy(ctx context.Context) (string, error) {
	mode, show, err := command.ParseBusy(e.command.Args)
	holds := cmp.Or(e.by.engine.busy(e.at.Session), parley.BusyQueue)
	if err != nil || show {
		return command.BusyText(holds, e.at.Busy != ""), err
	}
	answer := command.BusySetText(cmp.Or(mode, e.by.engine.cfg.Busy, parley.BusyQueue))
	_, err = e.riding(func(*parley.Batch) string { return answer }).Patch(ctx, e.at.ID, Changes{Busy: &mode})
	return answer, err
}

func (e *errand) help(context.Context) (string, error) {
	name, err := command.ParseHelp(e.command.Args)
	if err != nil {
		return "", err
	}
	return command.Help(name)
}

// chain gives the models of the session's agent, and the one that answers.
func (e *errand) chain() (chain []string, current string) {
	if f := e.by.engine.cfg.ModelsFunc; f != nil {
		chain = f(e.at.Session)
	}
	current = ChosenModel(e.at.Session)
	if !slices.Contains(chain, current) {
		current = ""
	}
	if current == "" && len(chain) > 0 {
		current = chain[0]
	}
	return chain, current
}

func (e *errand) model(ctx context.Context) (string, error) {
	name, show, err := command.ParseModel(e.command.Args)
	chain, current := e.chain()
	if err != nil || show {
		return command.ModelText(chain, current), err
	}
	model, err := command.PickModel(chain, name)
	if err != nil {
		return "", err
	}
	choice := model
	if strings.EqualFold(name, command.Default) {
		choice = ""
	}
	answer := command.ModelSetText(model)
	_, err = e.riding(func(*parley.Batch) string { return answer }).patch(ctx, e.at.ID, Changes{Metadata: map[string]string{modelName: choice}})
	return answer, err
}

func (e *errand) status(ctx context.Context) (string, error) {
	if err := command.ParseNone(e.command.Name, e.command.Args); err != nil {
		return "", err
	}
	eng := e.by.engine
	_, model := e.chain()
	view := command.StatusView{
		Session: shownSession(e.at.Session), Model: model, Busy: cmp.Or(eng.busy(e.at.Session), parley.BusyQueue),
		Waiting: e.at.Queued, Now: eng.cfg.Clock.Now(), Zone: eng.cfg.Zone,
	}
	turns, err := eng.store.OpenTurns(ctx, parley.SeeAll(), e.at.ID)
	if err != nil || len(turns) == 0 {
		return command.StatusText(view), err
	}
	view.Turn = &command.TurnView{State: turns[0].State, Since: turns[0].StartedAt}
	calls, err := eng.store.Calls(ctx, parley.SeeAll(), e.at.ID, turns[0].ID)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return "", err
	}
	for _, c := range calls {
		if c.State == parley.CallStarted {
			view.Turn.Tool = c.Tool
		}
	}
	return command.StatusText(view), nil
}

func (e *errand) usage(ctx context.Context) (string, error) {
	if err := command.ParseNone(e.command.Name, e.command.Args); err != nil {
		return "", err
	}
	view := command.UsageView{Counters: e.at.Counters}
	if e.at.Type == parley.SessionGroup {
		return command.UsageText(view), nil // what somebody spends elsewhere is theirs
	}
	who := e.by.caller.Principal()
	now := e.by.engine.cfg.Clock.Now().UTC()
	day := now.Truncate(24 * time.Hour)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, span := range []struct {
		what string
		from time.Time
	}{{"you today", day}, {"you this month", month}} {
		q := parley.SpentQuery{User: who.User, From: span.from, Until: day.AddDate(0, 0, 1)}
		if who.User == "" {
			q.Identity = who.Identity
		}
		spent, err := e.by.engine.store.Spent(ctx, q)
		if err != nil {
			return "", err
		}
		view.Budgets = append(view.Budgets, command.BudgetView{What: span.what, Spent: spent.CostMicroUSD})
	}
	return command.UsageText(view), nil
}
