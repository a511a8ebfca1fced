package tool_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
)

const password = "correct horse battery"

func scrubber() *secret.Scrubber {
	var s secret.Scrubber
	s.Add(secret.NewValue(password))
	return &s
}

func says(text string) fake {
	return fake{name: "t", run: func(context.Context, parley.ToolCall) (parley.ToolResult, error) {
		return parley.ToolResult{Text: text}, nil
	}}
}

// keeper keeps what it is given.
type keeper struct {
	text string
	err  error
}

const handle = "0123456789abcdef"

func (k *keeper) keep(ctx context.Context, r io.Reader) (parley.Blob, error) {
	if _, limited := ctx.Deadline(); ctx.Err() != nil || !limited {
		return parley.Blob{}, errors.New("it would not be stored, or take forever")
	}
	if k.err != nil {
		return parley.Blob{}, k.err
	}
	data, err := io.ReadAll(r)
	k.text = string(data)
	return parley.Blob{Handle: handle, Type: "text/plain", Size: int64(len(data))}, err
}

func TestResults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ title, text, want string }{
		{"as it is", "a\nb", "a\nb"},
		{"nothing", "", ""},
		{"NUL", "a\x00b", "a\uFFFDb"},
		{"broken UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"a secret", "it is " + password + ".", "it is [secret]."},
		{"a secret in base64", base64.StdEncoding.EncodeToString([]byte(password)), "[secret]"},
		{"a secret beside broken bytes", "\xff" + password + "\x00", "\uFFFD[secret]\uFFFD"},
	} {
		res, err := runOne(t.Context(), t, says(tt.text), tool.Config{Scrubber: scrubber()}, "")
		if err != nil || res.Text != tt.want || res.CallID != "c1" || res.IsError || res.Media != nil {
			t.Errorf("%s: got %+v, %v", tt.title, res, err)
		}
	}
}

// TestMediaNames holds that the name of a file can be stored and has no secrets.
func TestMediaNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", parley.MaxNameBytes)
	for _, tt := range []struct{ title, name, want string }{
		{"none", "", ""},
		{"as it is", "a cat.png", "a cat.png"},
		{"a secret", password + ".txt", "[secret].txt"},
		{"a secret in lines", strings.ReplaceAll(password, " ", "\n") + ".txt", "[secret].txt"},
		{"lines", "a\nb\x00c\t", "a b\uFFFDc"},
		{"broken UTF-8", "a\xffb", "a\uFFFDb"},
		{"long", long, long[:parley.MaxNameBytes-4] + "…"},
		{"a secret at the end", strings.Repeat("a", parley.MaxNameBytes-10) + password, strings.Repeat("a", parley.MaxNameBytes-10) + "[secret…"},
	} {
		own := parley.Media{Handle: handle, Type: "image/png", Name: tt.name, Size: 3}
		given := own
		f := fake{name: "t", run: func(context.Context, parley.ToolCall) (parley.ToolResult, error) {
			return parley.ToolResult{Media: &given}, nil
		}}
		res, err := runOne(t.Context(), t, f, tool.Config{Scrubber: scrubber()}, "")
		if err != nil || res.Media == nil || res.Media.Name != tt.want || len(res.Media.Name) > parley.MaxNameBytes || res.Media.Size != 3 {
			t.Errorf("%s: got %+v, %v", tt.title, res.Media, err)
		}
		if given != own {
			t.Errorf("%s: the tool's own became %+v", tt.title, given)
		}
	}
}

// TestQuotedNames moves a secret over the places where what a model sent is cut
// before it is shown to it.
func TestQuotedNames(t *testing.T) {
	t.Parallel()
	p := who(parley.RoleOwner, "")
	f := fake{name: "t", schema: `{"type": "object", "properties": {"a": {"enum": ["x"]}}, "additionalProperties": false}`}
	s := only(t, f, tool.Config{Scrubber: scrubber()}, p)
	for shift := range 560 {
		text := strings.Repeat("x", shift) + password
		for title, call := range map[string]parley.ToolCall{
			"tool": {Name: text}, "argument": {Name: "t", Arguments: []byte(`{"` + text + `": 1}`)},
			"twice": {Name: "t", Arguments: []byte(`{"` + text + `": 1, "` + text + `": 1}`)},
			"value": {Name: "t", Arguments: []byte(`{"a": "` + text + `"}`)}, "no JSON": {Name: "t", Arguments: []byte(`"` + text + `"`)},
		} {
			call.ID = "c1"
			res, err := s.Run(t.Context(), parley.ToolCaller{Principal: p}, call)
			_, why := s.Effect(call)
			if err != nil || !res.IsError || strings.Contains(res.Text+why, password[:4]) {
				t.Fatalf("%s, %d before it: %+v, %q, %v", title, shift, res, why, err)
			}
		}
	}
}

// TestCut moves a secret and a character of several bytes over every place where
// a text is cut.
func TestCut(t *testing.T) {
	t.Parallel()
	const most = 1 << 10
	k, text := &keeper{}, ""
	f := fake{name: "t", run: func(context.Context, parley.ToolCall) (parley.ToolResult, error) {
		return parley.ToolResult{Text: text}, nil
	}}
	p := who(parley.RoleOwner, "")
	s := only(t, f, tool.Config{Scrubber: scrubber(), KeepFunc: k.keep, MaxResult: most}, p)
	for shift := range 1200 {
		text = strings.Repeat("a", shift) + password + "€" + strings.Repeat("é", 300) + password + strings.Repeat("z", 1500-shift)
		res, err := s.Run(t.Context(), parley.ToolCaller{Principal: p}, parley.ToolCall{ID: "c1", Name: "t"})
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.ReplaceAll(text, password, secret.Mask)
		if k.text != whole {
			t.Fatalf("%d: kept is %q", shift, k.text)
		}
		first, rest, ok := strings.Cut(res.Text, "\n[… ")
		note, last, ok2 := strings.Cut(rest, " …]\n")
		if !ok || !ok2 || len(res.Text) > most || len(res.Text) < most-16 || !utf8.ValidString(res.Text) {
			t.Fatalf("%d: got %d bytes: %q", shift, len(res.Text), res.Text)
		}
		if !strings.HasPrefix(whole, first) || !strings.HasSuffix(whole, last) || len(first) == 0 || len(last) == 0 {
			t.Fatalf("%d: it is not the beginning and the end: %q", shift, res.Text)
		}
		if want := fmt.Sprintf("%d of %d bytes are left out here; the whole result is kept as %s", len(whole)-len(first)-len(last), len(whole), handle); note != want {
			t.Fatalf("%d: the note is %q, want %q", shift, note, want)
		}
		if m := res.Media; m == nil || m.Handle != handle || m.Type != "text/plain" || m.Size != int64(len(whole)) || m.Name != "t.txt" {
			t.Fatalf("%d: the media is %+v", shift, m)
		}
	}
}

func TestLongResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcde\n", 2000)
	own := &parley.Media{Handle: "fedcba", Type: "image/png", Size: 3}
	k := &keeper{}
	for _, tt := range []struct {
		title string
		text  string
		cfg   tool.Config
		media *parley.Media
		want  string
	}{
		{"nobody keeps it", long, tool.Config{}, nil, "the rest is lost; ask for less at a time"},
		{"it cannot be kept", long, tool.Config{KeepFunc: (&keeper{err: errors.New("full")}).keep}, nil, "could not be stored"},
		{"it has media of its own", long, tool.Config{KeepFunc: k.keep}, own, "media of its own"},
		{"it is kept", long, tool.Config{KeepFunc: k.keep}, nil, "kept as " + handle},
		{"as long as may be", long[:16<<10], tool.Config{KeepFunc: k.keep}, nil, ""},
		{"one byte more", long[:16<<10+1], tool.Config{KeepFunc: k.keep}, nil, "kept as " + handle},
	} {
		f := fake{name: "t", run: func(context.Context, parley.ToolCall) (parley.ToolResult, error) {
			return parley.ToolResult{Text: tt.text, Media: tt.media, IsError: true}, nil
		}}
		res, err := runOne(t.Context(), t, f, tt.cfg, "")
		if err != nil || !res.IsError || len(res.Text) > 16<<10 {
			t.Errorf("%s: got %d bytes, %v", tt.title, len(res.Text), err)
		}
		if tt.want == "" {
			if res.Text != tt.text {
				t.Errorf("%s: it was cut", tt.title)
			}
		} else if !strings.Contains(res.Text, tt.want) {
			t.Errorf("%s: got %q", tt.title, res.Text)
		}
		if kept := strings.HasPrefix(tt.want, "kept"); kept != (res.Media != nil && res.Media.Handle == handle) || tt.media != nil && res.Media != tt.media {
			t.Errorf("%s: the media is %+v", tt.title, res.Media)
		}
	}
}

// TestKeepAfterCancel has a tool that is done when nobody waits any more.
func TestKeepAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := &keeper{}
	res, err := runOne(ctx, t, says(strings.Repeat("a", 20_000)), tool.Config{KeepFunc: k.keep}, "")
	if err != nil || len(k.text) != 20_000 || res.Media == nil {
		t.Errorf("got %+v, %v", res.Media, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	fails := func(err error) fake {
		return fake{name: "t", run: func(context.Context, parley.ToolCall) (parley.ToolResult, error) {
			return parley.ToolResult{Text: "ignored"}, err
		}}
	}
	own := errors.New("of mine: " + password)
	for _, tt := range []struct {
		title string
		err   error
		is    error
		code  parley.Code
	}{
		{"canceled", fmt.Errorf("run %s: %w", password, context.Canceled), context.Canceled, parley.CodeInternal},
		{"too late", fmt.Errorf("run %s: %w", password, context.DeadlineExceeded), context.DeadlineExceeded, parley.CodeInternal},
		{"with a code", &parley.Error{Code: parley.CodeRateLimited, Message: password, RetryAfter: time.Second, Err: own}, own, parley.CodeRateLimited},
		{"stopped by a person", fmt.Errorf("%s: %w", password, parley.ErrCanceled), parley.ErrCanceled, parley.CodeInternal},
	} {
		res, err := runOne(t.Context(), t, fails(tt.err), tool.Config{Scrubber: scrubber()}, "")
		if !errors.Is(err, tt.is) || parley.CodeOf(err) != tt.code || res.Text != "" {
			t.Errorf("%s: got %+v, %v", tt.title, res, err)
		}
		for _, text := range []string{err.Error(), fmt.Sprintf("%v %s", err, err)} {
			if strings.Contains(text, password) || !strings.Contains(text, secret.Mask) {
				t.Errorf("%s: the text is %q", tt.title, text)
			}
		}
		if e, ok := errors.AsType[*parley.Error](err); !ok || strings.Contains(e.Error(), password) {
			t.Errorf("%s: the error is %+v", tt.title, e)
		}
	}
	_, err := runOne(t.Context(), t, fails(&parley.Error{Code: parley.CodeBusy, RetryAfter: time.Minute}), tool.Config{}, "")
	if e, ok := errors.AsType[*parley.Error](err); !ok || e.RetryAfter != time.Minute || !errors.Is(err, parley.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	var told []string
	cfg := tool.Config{Scrubber: scrubber(), PanicFunc: func(_ context.Context, name, value string, stack []byte) {
		told = append(told, name, value, string(stack))
	}}
	f := fake{name: "t", run: func(context.Context, parley.ToolCall) (parley.ToolResult, error) { panic("with " + password) }}
	res, err := runOne(t.Context(), t, f, cfg, "")
	if err != nil || !res.IsError || res.CallID != "c1" || !strings.Contains(res.Text, "fault of its own") {
		t.Errorf("got %+v, %v", res, err)
	}
	if len(told) != 3 || told[0] != "t" || told[1] != "with [secret]" || !strings.Contains(told[2], "TestPanic") || strings.Contains(strings.Join(told, res.Text), password) {
		t.Errorf("told was %q", told)
	}
	if res, err := runOne(t.Context(), t, f, tool.Config{}, ""); err != nil || !res.IsError {
		t.Errorf("with nobody to tell: %+v, %v", res, err)
	}
}
