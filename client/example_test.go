package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/client"
	"github.com/parley-run/parley/engine"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/httpapi"
	"github.com/parley-run/parley/sqlite"
)

// shout is an agent that says the same, but louder.
type shout struct{}

func (shout) Run(_ context.Context, t parley.TurnContext) (parley.TurnEnd, error) {
	stream, words := string(t.Turn.ID)+".1", parley.PlainText(t.Window.Turn[0].Parts)+"!"
	answer := parley.Message{ID: stream, Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart(words)}}
	return parley.TurnEnd{Last: &answer, Completed: parley.TurnCompleted{StopReason: parley.StopDone}}, nil
}

// A program talks to a server, with a token that an owner gave it.
func Example() {
	url, token, stop := startServer()
	defer stop()
	c, err := client.New(client.Config{URL: url, Token: token})
	check(err)
	defer c.Close()

	ctx := context.Background()
	opened, err := c.Open(ctx, client.Opening{ID: "cli:work", Source: &parley.Source{Kind: "cli", Interactive: true}})
	check(err)
	answer, err := c.Ask(ctx, opened.Session.ID, parley.Input{Parts: []parley.Part{parley.TextPart("Hello")}})
	check(err)
	fmt.Println(parley.PlainText(answer.Message.Parts))

	// Everything that was said, and what will be: here until the turn's end.
	for update, err := range c.Events(ctx, opened.Session.ID, parley.Position{}) {
		check(err)
		if e := update.Event; e != nil {
			fmt.Println(e.Seq, e.Type)
			if e.Type == parley.EventTurnCompleted {
				break
			}
		}
	}
	// Output:
	// Hello!
	// 1 session:started
	// 2 session:participant
	// 3 session:input
	// 4 session:turn_started
	// 5 session:message
	// 6 session:message
	// 7 session:turn_completed
}

// startServer starts what `parley serve` starts, on a port of its own.
func startServer() (url, token string, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	dir, err := os.MkdirTemp("", "parley")
	check(err)
	file, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"), sqlite.Config{})
	check(err)
	live := feed.New(file, feed.Config{})
	store := feed.Announce(file, live)
	eng, err := engine.New(store, engine.Config{Runner: shout{}, Feed: live})
	check(err)
	done := make(chan error)
	go func() { done <- eng.Run(ctx) }()
	<-eng.Ready()
	people := access.NewPeople(store, access.PeopleConfig{})
	token, err = people.Setup(ctx)
	check(err)
	api, err := httpapi.New(eng, httpapi.Config{People: people, HeadFunc: store.Head})
	check(err)
	server := httptest.NewServer(api)
	return server.URL, token, func() {
		check(api.Close(ctx))
		server.Close()
		people.Close()
		cancel()
		check(<-done)
		live.Close()
		check(file.Close())
		check(os.RemoveAll(dir))
	}
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}
