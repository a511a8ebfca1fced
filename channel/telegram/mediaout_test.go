package telegram_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/channel/telegram"
	"github.com/parley-run/parley/internal/telegramserver"
	"github.com/parley-run/parley/sqlite"
)

// TestMediaThroughTheOutbox brings a message with a photo and two files to a chat. Telegram
// takes the photo and does not say so; one of the files is gone.
func TestMediaThroughTheOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramserver.Config{}, telegram.Config{Limits: &channel.Limits{}})
	chat := w.Private(w.ann)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "parley.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	outbox, err := channel.New(store, channel.Config{
		Platforms: []channel.Platform{w.bot}, Pause: time.Millisecond,
		OpenFunc: func(_ context.Context, m parley.Media) (io.ReadCloser, int64, error) {
			if m.Name == "gone.pdf" {
				return nil, 0, parley.Errorf(parley.CodeNotFound, "it is gone")
			}
			return io.NopCloser(strings.NewReader(m.Name)), int64(len(m.Name)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Inject(telegramserver.Fault{Kind: telegramserver.FaultClose, Method: "sendPhoto", Taken: true})
	source := parley.Source{Kind: "channel", Platform: telegram.Name, Interactive: true}
	if _, err := store.Commit(t.Context(), parley.Batch{At: time.Now(), Sessions: []parley.SessionChange{{
		Session: "telegram:a", Create: &parley.NewSession{Agent: parley.AgentSnapshot{Name: "main"}, Source: source, Type: parley.SessionDirect},
		Events: []parley.NewEvent{{Body: &parley.Started{Agent: "main", Source: source}}},
		Deliveries: []parley.DeliveryChange{{New: &parley.Delivery{
			ID: "d1", Kind: parley.DeliveryMessage, Target: to(chat), State: parley.DeliveryPending, Text: "**All** of it.",
			Media: []parley.Media{
				{Handle: "blob_01", Type: "image/png", Name: "cat.png"},
				{Handle: "blob_02", Type: "application/pdf", Name: "gone.pdf"},
				{Handle: "blob_03", Type: "application/pdf", Name: "report.pdf"},
			},
		}}},
	}}}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- outbox.Run(ctx) }()
	w.until("everything is there", func() bool { return len(w.Sent(chat)) >= 4 })
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	sent := w.Sent(chat)
	if len(sent) != 4 || sent[0].Caption != "All of it." || len(sent[0].Photo) == 0 ||
		sent[1].Caption != "↻ Sent again, as it may not have arrived:\n\nAll of it." || len(sent[1].Photo) == 0 || len(sent[1].CaptionEntities) != 1 ||
		sent[2].Text != "(A file, gone.pdf, is not there any more.)" ||
		sent[3].Document == nil || string(w.FileData(sent[3].Document.FileID)) != "report.pdf" || sent[3].Caption != "" {
		t.Errorf("the chat shows %+v", sent)
	}
	if open, err := store.Deliveries(t.Context(), parley.SeeAll(), parley.DeliveryQuery{}); err != nil || len(open) > 0 {
		t.Errorf("open are %+v, %v", open, err)
	}
}
