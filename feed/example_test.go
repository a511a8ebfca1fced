package feed_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/feed"
	"github.com/parley-run/parley/sqlite"
)

// A program follows a session: first what is stored, then a reply while it is
// being written, then the message it became.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	live := feed.New(db, feed.Config{})
	defer live.Close()
	store := feed.Announce(db, live) // whoever commits does it through this one

	say := func(create *parley.NewSession, m *parley.Message) {
		_, err := store.Commit(ctx, parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{{
			Session: "cli:work", Create: create, Events: []parley.NewEvent{{Body: m}},
		}}})
		if err != nil {
			log.Fatal(err)
		}
	}
	say(&parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: parley.Source{Kind: "cli"}, Type: parley.SessionDirect},
		&parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{parley.TextPart("hello")}})

	live.Publish(parley.Delta{Session: "cli:work", Turn: "t1", After: 1, Stream: "m2", N: 1, Kind: parley.PartText, Text: "hi"})
	for u, err := range live.Subscribe(ctx, parley.SeeAll(), "cli:work", parley.Position{}) {
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case u.Delta != nil || u.Snapshot != nil:
			// A snapshot, if the reader came after the reply had begun.
			fmt.Println("a reply is being written")
			say(nil, &parley.Message{ID: "m2", Role: parley.MessageAssistant, Parts: []parley.Part{parley.TextPart("hi there")}})
		case u.Event != nil:
			fmt.Println("event", u.Event.Seq, u.Event.Type)
		}
		if u.Position.Seq == 2 {
			break
		}
	}
	// Output:
	// event 1 session:message
	// a reply is being written
	// event 2 session:message
}
