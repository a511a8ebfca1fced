package blob_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
	"github.com/parley-run/parley/sqlite"
)

// A picture is put first; then a message may refer to it.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "parley-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "parley.db"), sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	media, err := blob.New(filepath.Join(dir, "blobs"), store, blob.Config{Key: []byte("a key of this installation")})
	if err != nil {
		log.Fatal(err)
	}

	b, err := media.Put(ctx, strings.NewReader("\x89PNG\r\n\x1a\n and so on"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.Commit(ctx, parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{{
		Session: "web:holiday",
		Create: &parley.NewSession{
			Agent: parley.AgentSnapshot{Name: "helper"}, Source: parley.Source{Kind: "web"}, Type: parley.SessionDirect,
		},
		Events: []parley.NewEvent{
			{Body: &parley.ParticipantChanged{Identity: "web:ada"}},
			{Body: &parley.Message{ID: "m1", Role: parley.MessageUser, Parts: []parley.Part{
				{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(b.Handle), Type: b.Type, Name: "beach.png", Size: b.Size}},
			}}},
		},
	}}})
	if err != nil {
		log.Fatal(err)
	}

	f, found, err := media.Open(ctx, parley.SeeAs("web:ada"), b.Handle)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Type, found.Size, len(content))
	_, _, err = media.Open(ctx, parley.SeeAs("web:bob"), b.Handle)
	fmt.Println(parley.CodeOf(err))
	// Output:
	// image/png 18 18
	// not_found
}
