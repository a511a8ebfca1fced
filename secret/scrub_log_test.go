package secret_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/parley-run/parley/secret"
)

type (
	person   struct{ Name, Password string }
	stringer struct{ text string }
	valuer   struct{ text string }
	named    []byte
	panics   struct{}
)

func (s stringer) String() string               { return "stringer of " + s.text }
func (v valuer) LogValue() slog.Value           { return slog.GroupValue(slog.String("inner", v.text)) }
func (panics) MarshalJSON() ([]byte, error)     { panic("never marshalled") }
func (s stringer) MarshalText() ([]byte, error) { return []byte(s.text), nil }

func TestHandler(t *testing.T) {
	t.Parallel()
	const text = "correct horse"
	tests := map[string]func(*slog.Logger){
		"message":  func(l *slog.Logger) { l.Info("it is " + text) },
		"string":   func(l *slog.Logger) { l.Info("m", "k", "is "+text) },
		"name":     func(l *slog.Logger) { l.Info("m", text, 1) },
		"error":    func(l *slog.Logger) { l.Info("m", "err", fmt.Errorf("wrapped: %w", errors.New(text))) },
		"stringer": func(l *slog.Logger) { l.Info("m", "k", stringer{text}) },
		"struct":   func(l *slog.Logger) { l.Info("m", "k", person{"me", text}) },
		"pointers": func(l *slog.Logger) { l.Info("m", "k", []*person{{"me", text}}) },
		"map":      func(l *slog.Logger) { l.Info("m", "k", map[string]any{"a": []string{text}}) },
		"bytes":    func(l *slog.Logger) { l.Info("m", "k", []byte("is "+text)) },
		"named":    func(l *slog.Logger) { l.Info("m", "k", named(text)) },
		"raw JSON": func(l *slog.Logger) { l.Info("m", "k", json.RawMessage(`{"a":"`+text+`"}`)) },
		"valuer":   func(l *slog.Logger) { l.Info("m", "k", valuer{text}) },
		"group":    func(l *slog.Logger) { l.Info("m", slog.Group("g", slog.Group("h", "k", text))) },
		"with":     func(l *slog.Logger) { l.With("k", text, "e", errors.New(text)).Info("m") },
		"in group": func(l *slog.Logger) { l.WithGroup("g "+text).Info("m", "k", text) },
	}
	for name, log := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range []func(io.Writer) slog.Handler{
				func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
				func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
			} {
				var bare, clean bytes.Buffer
				log(slog.New(format(&bare)))
				log(slog.New(scrubber(text).Handler(format(&clean))))
				// In itself, or in base64 or as numbers: without the handler it is there.
				if strings.Contains(clean.String(), text) || !strings.Contains(clean.String(), secret.Mask) {
					t.Errorf("%s became %s", bare.String(), clean.String())
				}
			}
		})
	}
}

// TestHandlerLeavesTheRest: records without a secret come out as they went in.
func TestHandlerLeavesTheRest(t *testing.T) {
	t.Parallel()
	record := slog.NewRecord(time.Unix(1, 0).UTC(), slog.LevelWarn, "message", 0)
	record.Add("s", "text", "n", 7, "f", 1.5, "b", true, "d", time.Second, "t", time.Unix(2, 0).UTC(), "nil", nil,
		"e", errors.New("failed"), "p", person{"me", "x"}, "by", []byte("abc"), "fn", func() {}, "v", secret.NewValue(sample),
		"bad", panics{}, slog.Group("g", "a", 1))
	printed := func(wrap func(slog.Handler) slog.Handler) string {
		var b strings.Builder
		for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
			if err := wrap(h).Handle(t.Context(), record); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	want := printed(func(h slog.Handler) slog.Handler { return h })
	got := printed(scrubber("unheard of").Handler)
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}

	h := scrubber(sample).Handler(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if h.Enabled(t.Context(), slog.LevelInfo) || !h.Enabled(t.Context(), slog.LevelWarn) {
		t.Error("the level is not the one of the handler below")
	}
}

func TestHandlerIsOne(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return scrubber(sample).Handler(slog.NewJSONHandler(&b, nil))
	}, func(t *testing.T) map[string]any {
		t.Helper()
		var record map[string]any
		if err := json.Unmarshal(b.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		return record
	})
}

type refusing struct{ slog.Handler }

func (refusing) Handle(context.Context, slog.Record) error { return io.ErrClosedPipe }

func TestHandlerPassesErrors(t *testing.T) {
	t.Parallel()
	h := scrubber(sample).Handler(refusing{slog.DiscardHandler})
	if err := h.Handle(t.Context(), slog.Record{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
