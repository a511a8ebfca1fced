package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/sqlite"
)

// A program opens a store, commits a session with its first message, and reads
// the message back.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	hello := &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("hello")}}
	_, err = store.Commit(ctx, parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{{
		Session: "cli:work",
		Create:  &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect},
		Events:  []parley.NewEvent{{Body: hello}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	events, err := store.Events(ctx, parley.SeeAll(), "cli:work", parley.EventQuery{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(events[0].Seq, events[0].Type, string(events[0].Data))
	// Output: 1 session:message {"id":"m1","role":"user","parts":[{"type":"text","text":"hello"}]}
}
