package scripted_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/model/scripted"
)

// A test of a program that embeds Parley says in advance what the model answers.
func Example() {
	script, err := scripted.Parse("weather.yaml", []byte(`
rules:
  - when: {matches: "weather in (.+)"}
    say:
      - reasoning: I have to look.
      - call: {tool: weather, arguments: {city: "${1}", days: 1}}
  - when: {after_tool: weather}
    say: "The weather: ${result}."
`))
	if err != nil {
		log.Fatal(err)
	}
	model, err := scripted.New(scripted.Config{Name: "weather", Script: script})
	if err != nil {
		log.Fatal(err)
	}
	say := func(messages ...parley.ModelMessage) {
		for piece, err := range model.Stream(context.Background(), parley.ModelRequest{Messages: messages}) {
			switch {
			case err != nil:
				log.Fatal(err)
			case piece.Call != nil:
				fmt.Printf("call %s %s\n", piece.Call.Name, piece.Call.Arguments)
			case piece.Done != nil:
				fmt.Printf("%s, %d tokens\n", piece.Done.StopReason, piece.Done.Usage.OutputTokens)
			case piece.Text != "":
				fmt.Printf("%s %q\n", piece.Kind, piece.Text)
			}
		}
	}
	part := func(p parley.Part) []parley.ModelPart { return []parley.ModelPart{{Part: p}} }
	question := parley.ModelMessage{Role: parley.MessageUser, Parts: part(parley.TextPart("What is the weather in Oslo"))}
	call := parley.ModelMessage{Role: parley.MessageAssistant, Parts: part(parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "weather"}})}
	result := parley.ModelMessage{Role: parley.MessageTool, Parts: part(parley.Part{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c1", Text: "rain"}})}
	say(question)
	say(question, call, result)
	// Output:
	// reasoning "I "
	// reasoning "have "
	// reasoning "to "
	// reasoning "look."
	// call weather {"city":"Oslo","days":1}
	// stop, 12 tokens
	// text "The "
	// text "weather: "
	// text "rain"
	// text "."
	// stop, 5 tokens
}
