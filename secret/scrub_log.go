package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
)

// Handler gives a handler that passes records on to next, with all known values
// replaced in the message, in names and in values of attributes. A value that is
// no text, and would show a secret when it is printed, becomes a scrubbed text;
// others stay as they are. The attributes of [slog.Logger.With] are scrubbed when
// they are given.
func (s *Scrubber) Handler(next slog.Handler) slog.Handler { return handler{s, next} }

type handler struct {
	scrubber *Scrubber
	next     slog.Handler
}

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.scrubber.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.scrubber, h.next.WithAttrs(h.attrs(attrs))}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.scrubber, h.next.WithGroup(h.scrubber.Text(name))}
}

func (h handler) attrs(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return clean
}

func (h handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(h.scrubber.Text(v.String()))
	case slog.KindGroup:
		v = slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindAny:
		v = h.any(v)
	}
	return slog.Attr{Key: h.scrubber.Text(a.Key), Value: v}
}

// any replaces a value by a text if one of the ways to print it shows a secret.
func (h handler) any(v slog.Value) slog.Value {
	for _, text := range []string{fmt.Sprintf("%+v", v.Any()), asJSON(v.Any()), asBytes(v.Any())} {
		if clean := h.scrubber.Text(text); clean != text {
			return slog.StringValue(clean)
		}
	}
	return v
}

// asJSON gives "" for what cannot be marshalled, and for what panics, as slog
// survives that too.
func asJSON(v any) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// asBytes gives the text that is in a slice of bytes of any type.
func asBytes(v any) string {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
		return string(r.Bytes())
	}
	return ""
}
