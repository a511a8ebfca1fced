package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/sqlite"
)

// shout is a runner of this program: it brings its own loop, and keeps every
// promise.
type shout struct{}

func (shout) Run(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	words := parley.PlainText(t.Window.Turn[0].Parts) + "!"
	answer := parley.Message{ID: string(t.Turn.ID) + ".1", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(words)}}
	return parley.TurnEnd{Last: &answer, Completed: parley.TurnCompleted{StopReason: parley.StopDone}}, nil
}

// A program keeps conversations in a file, and runs the agent's turns itself.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	dir, err := os.MkdirTemp("", "parley")
	check(err)
	defer os.RemoveAll(dir)
	file, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"), sqlite.Config{})
	check(err)
	defer file.Close()
	live := feed.New(file, feed.Config{})
	defer live.Close()
	eng, err := engine.New(feed.Announce(file, live), engine.Config{Runner: shout{}, Feed: live})
	check(err)
	done := make(chan error)
	go func() { done <- eng.Run(ctx) }()

	me := eng.As(access.NewCaller(parley.Principal{Identity: "cli:me", User: "me", Role: parley.RoleOwner}))
	_, err = me.Open(ctx, engine.Opening{ID: "cli:work", Session: parley.NewSession{
		Agent: parley.AgentSnapshot{Name: "main"}, Type: parley.SessionDirect, Source: parley.Source{Kind: "cli", Interactive: true},
	}})
	check(err)
	_, err = me.Post(ctx, "cli:work", parley.Input{Ref: parley.InputRef{Origin: "cli:me/cli:work", ID: "1"}, Parts: []parley.Part{parley.TextPart("Hello")}, Mentioned: true})
	check(err)
	for update, err := range me.Events(ctx, "cli:work", parley.Position{}) {
		check(err)
		if e := update.Event; e != nil && e.Type == parley.EventTurnCompleted {
			break
		}
	}
	s, err := me.Session(ctx, "cli:work")
	check(err)
	fmt.Println(s.Preview)
	stop()
	check(<-done)
	// Output: Hello!
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
