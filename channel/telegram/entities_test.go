package telegram

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley/channel"
	"github.com/parley-run/parley/internal/telegramserver"
	"github.com/parley-run/parley/internal/vectors"
)

// units counts as Telegram does, in another way than the code under test.
func units(text string) int { return len(utf16.Encode([]rune(text))) }

func TestEntities(t *testing.T) {
	t.Parallel()
	rich := channel.Markdown("😀 **bold _both_** `code` [link](https://example.org)\n\n> 👨‍👩‍👧 ~~gone~~\n\n```go\nx\n```")
	text, got := entities(rich)
	if want := "😀 bold both code link\n\n👨‍👩‍👧 gone\n\nx"; text != want {
		t.Errorf("got the text %q, want %q", text, want)
	}
	want := []models.MessageEntity{
		{Type: models.MessageEntityTypeBold, Offset: 3, Length: 9},
		{Type: models.MessageEntityTypeItalic, Offset: 8, Length: 4},
		{Type: models.MessageEntityTypeCode, Offset: 13, Length: 4},
		{Type: models.MessageEntityTypeTextLink, Offset: 18, Length: 4, URL: "https://example.org"},
		{Type: models.MessageEntityTypeBlockquote, Offset: 24, Length: 13},
		{Type: models.MessageEntityTypeStrikethrough, Offset: 33, Length: 4},
		{Type: models.MessageEntityTypePre, Offset: 39, Length: 1, Language: "go"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEntities_EveryKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []channel.Kind{
		channel.Bold, channel.Italic, channel.Underline, channel.Strike, channel.Spoiler,
		channel.Code, channel.Pre, channel.Link, channel.Quote,
	} {
		_, got := entities(channel.Rich{Text: "x", Spans: []channel.Span{{Kind: kind, End: 1, URL: "https://example.org"}}})
		if len(got) != 1 || got[0].Type == "" {
			t.Errorf("%s became %+v", kind, got)
		}
	}
}

// sample is a text of the corpus that package channel is tested with.
type sample struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Begin  string `json:"begin"`
	Repeat string `json:"repeat"`
	Times  int    `json:"times"`
}

func corpus(t testing.TB) []sample {
	t.Helper()
	samples := vectors.Load[sample](t, "../../testdata/corpus.json")
	for i, s := range samples {
		samples[i].Source += s.Begin + strings.Repeat(s.Repeat, s.Times)
	}
	return samples
}

// TestCorpus sends every sample with the real library to a server that refuses what
// Telegram refuses, and what it would repair.
func TestCorpus(t *testing.T) {
	t.Parallel()
	server := telegramserver.Start(t, telegramserver.Config{Limits: telegramserver.NoLimits})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	b, err := bot.New(server.Token(), bot.WithServerURL(server.URL), bot.WithHTTPClient(time.Minute, &http.Client{Transport: transport}))
	if err != nil {
		t.Fatal(err)
	}
	ann := server.AddUser(telegramserver.User{FirstName: "Ann"})
	chat := server.Private(ann)
	for _, s := range corpus(t) {
		rich := channel.Markdown(s.Source)
		for _, size := range []int{4096, 40} {
			for _, part := range rich.Split(size, channel.UTF16) {
				if size < 4096 && len(s.Source) > 2000 {
					break // enough of them are short
				}
				text, marks := entities(part)
				sent, err := b.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: chat.ID, Text: text, Entities: marks})
				if err != nil {
					t.Errorf("%s, in parts of %d: %v\n%q %+v", s.ID, size, err, text, marks)
					continue
				}
				if sent.Text != text {
					t.Errorf("%s, in parts of %d: sent %q, and %q arrived", s.ID, size, text, sent.Text)
				}
				if diff := cmp.Diff(marks, own(sent.Entities)); diff != "" {
					t.Errorf("%s, in parts of %d: what arrived looks different (-sent +arrived):\n%s", s.ID, size, diff)
				}
			}
		}
	}
	if violations := server.Violations(); len(violations) > 0 {
		t.Errorf("the server counted %+v", violations)
	}
}

// own leaves out what the server found in the text by itself.
func own(list []models.MessageEntity) []models.MessageEntity {
	var kept []models.MessageEntity
	for _, e := range list {
		for _, kind := range entityTypes {
			if e.Type == kind {
				kept = append(kept, e)
			}
		}
	}
	return kept
}

func FuzzEntities(f *testing.F) {
	for _, s := range corpus(f) {
		if len(s.Source) < 500 {
			f.Add(s.Source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 5000 {
			return
		}
		rich := channel.Markdown(source)
		text, list := entities(rich)
		if len(list) != len(rich.Spans) {
			t.Fatalf("%d spans became %d entities", len(rich.Spans), len(list))
		}
		var marks []telegramserver.Entity
		for _, e := range list {
			marks = append(marks, telegramserver.Entity{Type: string(e.Type), Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language})
		}
		if err := telegramserver.CheckEntities(text, marks); err != nil {
			t.Fatalf("%v: %q %+v", err, text, list)
		}
		for i, e := range list {
			part, ok := covered(text, e)
			if want := rich.Text[rich.Spans[i].Start:rich.Spans[i].End]; !ok || part != want {
				t.Fatalf("entity %+v covers %q, want %q", e, part, want)
			}
		}
	})
}
