package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/turn"
)

// dice is a tool of this program.
type dice struct{}

func (dice) Spec() parley.ToolSpec {
	return parley.ToolSpec{
		Name: "roll", Description: "Rolls a die.",
		Schema: json.RawMessage(`{"type":"object","properties":{"sides":{"type":"integer","minimum":2}},"required":["sides"]}`),
	}
}

func (dice) Run(_ context.Context, _ parley.ToolCaller, _ parley.ToolCall) (parley.ToolResult, error) {
	return parley.ToolResult{Text: "4, chosen by fair dice roll"}, nil
}

// A program runs one turn with its own tool, on a transcript in memory. The model is
// the offline one; model/anthropic and model/openai take its place.
func Example() {
	model, err := scripted.New(scripted.Config{})
	if err != nil {
		log.Fatal(err)
	}
	tools, err := tool.New([]tool.Group{{Name: "games", Tools: []parley.Tool{dice{}}}}, tool.Config{})
	if err != nil {
		log.Fatal(err)
	}
	me := parley.Principal{Identity: "cli:me", User: "me", Role: parley.RoleOwner}
	set, err := tools.For(me, nil)
	if err != nil {
		log.Fatal(err)
	}
	agent := turn.Agent{Models: []parley.Model{model}, Tools: set}
	runner, err := turn.New(turn.Config{AgentFunc: func(context.Context, parley.TurnContext) (turn.Agent, error) { return agent, nil }})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := runner.RunSub(context.Background(), turn.SubTurn{
		Agent: agent, Task: `call roll {"sides": 6}`,
		By: parley.ToolCaller{Principal: me, Session: "cli:game", Turn: "t1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range answer.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				fmt.Printf("the model calls %s with %s\n", p.Call.Name, p.Call.Arguments)
			case p.Result != nil:
				fmt.Printf("the tool says: %s\n", p.Result.Text)
			}
		}
	}
	fmt.Println(answer.Completed.StopReason)
	// Output:
	// the model calls roll with {"sides": 6}
	// the tool says: 4, chosen by fair dice roll
	// stop
}
