package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// maxDepth is how deep sub-turns may be nested.
const maxDepth = 3

type depthKey struct{}

// SubTurn is a turn inside another, or beside all: on a transcript in memory,
// with limits of its own. It leaves nothing in the session but what its caller
// makes of the answer.
type SubTurn struct {
	Agent  Agent
	System string
	// Past is what the model is shown before the task.
	Past []parley.Message
	// Task is what it is to do. Required.
	Task string
	// By is for whom it runs, and whose budget it spends.
	By parley.ToolCaller
}

// SubAnswer is what came of a [SubTurn].
type SubAnswer struct {
	Text      string
	Messages  []parley.Message // of the sub-turn, the task first
	Completed parley.TurnCompleted
}

// RunSub runs a sub-turn to its end. What would suspend a turn, such as an outage,
// is an error here; [parley.CodeInvalid] if sub-turns are nested too deeply.
func (r *Runner) RunSub(ctx context.Context, s SubTurn) (SubAnswer, error) {
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxDepth {
		if s.Agent.ReleaseFunc != nil {
			s.Agent.ReleaseFunc()
		}
		return SubAnswer{}, parley.Errorf(parley.CodeInvalid, "sub-turns are nested more than %d deep", maxDepth)
	}
	ctx = context.WithValue(ctx, depthKey{}, depth+1)
	task := parley.Message{ID: "task", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart(s.Task)}}
	script := NewTranscript(task)
	cfg := r.cfg
	cfg.AgentFunc = func(context.Context, parley.TurnContext) (Agent, error) { return s.Agent, nil }
	sub := &Runner{cfg: cfg, breakers: r.breakers}
	end, err := sub.Run(ctx, parley.TurnContext{
		Session:   parley.Session{ID: s.By.Session},
		Turn:      parley.Turn{ID: s.By.Turn + ".sub", Session: s.By.Session, Attempt: 1},
		Principal: s.By.Principal,
		System:    s.System,
		Window:    parley.Window{Past: s.Past, Turn: []parley.Message{task}},
		Journal:   script,
		Budget:    s.By.Budget,
	})
	if err != nil {
		return SubAnswer{}, fmt.Errorf("run a sub-turn: %w", err)
	}
	answer := SubAnswer{Messages: script.Messages(), Completed: end.Completed}
	if end.Last != nil {
		answer.Messages = append(answer.Messages, *end.Last)
		answer.Text = parley.PlainText(end.Last.Parts)
	}
	return answer, nil
}

// Delegate is a tool that gives a task to a sub-turn and returns its answer.
type Delegate struct {
	// Runner runs it. Required.
	Runner *Runner
	// Name and Description are what the model reads; the arguments are
	// {"task": text}.
	Name        string
	Description string
	// AgentFunc gives the agent that does the task. Required.
	AgentFunc func(ctx context.Context, by parley.ToolCaller) (Agent, error)
	System    string
	// Budget is how much of the turn's budget one task may spend, in millionths of
	// a dollar; 0: all of it.
	Budget int64
}

// Spec describes the tool.
func (d *Delegate) Spec() parley.ToolSpec {
	return parley.ToolSpec{
		Name: d.Name, Description: d.Description,
		Schema: json.RawMessage(`{"type":"object","properties":{"task":{"type":"string","minLength":1,"description":"What to do, with everything that is needed to know for it."}},"required":["task"],"additionalProperties":false}`),
	}
}

// Run runs the sub-turn.
func (d *Delegate) Run(ctx context.Context, by parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	var args struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return parley.ToolResult{Text: "The arguments are not what this tool takes: " + err.Error(), IsError: true}, nil //nolint:nilerr // the model reads it
	}
	agent, err := d.AgentFunc(ctx, by)
	if err != nil {
		return parley.ToolResult{}, err
	}
	by.Budget = Within(by.Budget, d.Budget)
	// Calls of one turn must not share the names of their messages.
	by.Turn += parley.TurnID("." + string(call.ID))
	answer, err := d.Runner.RunSub(ctx, SubTurn{Agent: agent, System: d.System, Task: args.Task, By: by})
	if err != nil {
		return parley.ToolResult{}, err
	}
	if e := answer.Completed.Error; e != nil {
		return parley.ToolResult{Text: strings.TrimSpace(answer.Text + "\n\nIt did not get to its end: " + e.Message), IsError: true}, nil
	}
	if r := answer.Completed.StopReason; r != parley.StopDone {
		return parley.ToolResult{Text: strings.TrimSpace(answer.Text + "\n\nIt did not get to its end: " + string(r)), IsError: true}, nil
	}
	return parley.ToolResult{Text: answer.Text}, nil
}
