package mcp_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/secret"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/mcp"
)

func TestCalls(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	all := tools(t, p.Server)
	const arguments = `{"z":1,"a":[true,null],"n":12345678901234567890}`
	tests := []struct {
		tool, arguments string
		isError         bool
		want            string
	}{
		{"echo", arguments, false, arguments},
		{"echo", ``, false, `{}`},
		{"fail", `{}`, true, "it went wrong"},
		{"refuse", `{}`, true, "MCP server test refused the call: not today, [secret] (code 0)"},
		{"structured", `{}`, false, `{"id":1234567890123456789}`},
		{"progress", `{}`, false, "done"},
		{"dirty", `{}`, false, "ab [secret]"},
	}
	for _, test := range tests {
		t.Run(test.tool, func(t *testing.T) {
			t.Parallel()
			got := call(t.Context(), t, all["test_"+test.tool], test.arguments)
			if got.IsError != test.isError || got.Text != test.want {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	group, err := p.Group(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tool.New([]tool.Group{group}, tool.Config{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := registry.For(parley.Principal{Role: parley.RoleOwner}, []string{"test"})
	if err != nil {
		t.Fatal(err)
	}
	specs := set.Specs()
	if len(specs) != len(group.Tools) || specs[0].Name != "test_ask" || specs[0].Description != "Does ask." || string(specs[0].Schema) != `{"type":"object"}` {
		t.Errorf("got %d tools, the first is %+v", len(specs), specs[0])
	}
	if !slices.IsSortedFunc(group.Tools, func(a, b parley.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) }) {
		t.Error("the tools are not sorted")
	}
	result, err := set.Run(t.Context(), parley.ToolCaller{Principal: parley.Principal{Role: parley.RoleOwner}}, parley.ToolCall{ID: "c1", Name: "test_echo", Arguments: []byte(`{"a":1}`)})
	if err != nil || result.Text != `{"a":1}` || result.CallID != "c1" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	const rest = `[audio, audio/wav, 5 bytes; not kept]
[link to file:///a, a, text/plain, 7 bytes: A file.]
[resource file:///b]
inside b
[resource file:///c]
[resource, application/x, 3 bytes; not kept]
last`
	tests := map[string]struct {
		keep  func(context.Context, io.Reader) (parley.Blob, error)
		want  string
		media *parley.Media
	}{
		"nobody keeps it": {nil, "first\n[image, image/png, 7 bytes; not kept]\n" + rest, nil},
		"kept": {
			func(_ context.Context, r io.Reader) (parley.Blob, error) {
				data, err := io.ReadAll(r)
				return parley.Blob{Handle: parley.BlobHandle("h-" + string(data)), Type: "image/x-found", Size: int64(len(data))}, err
			},
			"first\n[image, image/png, 7 bytes; kept]\n" + strings.ReplaceAll(rest, "not kept", "not kept, as a result has one only"),
			&parley.Media{Handle: "h-picture", Type: "image/x-found", Size: 7},
		},
		"cannot be kept": {
			func(context.Context, io.Reader) (parley.Blob, error) { return parley.Blob{}, errors.New("disk full") },
			"first\n[image, image/png, 7 bytes; could not be kept]\n" + strings.ReplaceAll(rest, "not kept", "could not be kept"), nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "good", func(c *mcp.Config) { c.KeepFunc = test.keep })
			got := call(t.Context(), t, tools(t, p.Server)["test_mixed"], `{}`)
			if diff := cmp.Diff(parley.ToolResult{Text: test.want, Media: test.media}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLargeResult(t *testing.T) {
	t.Parallel()
	p := start(t, "good", func(c *mcp.Config) { c.MaxResult = 1001 })
	got := call(t.Context(), t, tools(t, p.Server)["test_large"], `{}`)
	if want := strings.Repeat("é", 500) + "\n[the rest was left out; a result has at most 1001 bytes]"; got.Text != want {
		t.Errorf("got %d bytes: …%s", len(got.Text), got.Text[len(got.Text)-80:])
	}
}

// TestEnvironment: a program sees what it is given, and nothing of ours; and what
// it tells of its secrets does not get out.
func TestEnvironment(t *testing.T) {
	t.Setenv("PARLEY_TEST_OURS", "not for others")
	var known secret.Scrubber
	dir := t.TempDir()
	p := start(t, "good", func(c *mcp.Config) {
		c.Dir, c.Scrubber = dir, &known
		c.Env["LANG"] = mcp.Setting{Text: "xx"}
	})
	all := tools(t, p.Server)
	got := call(t.Context(), t, all["test_env"], `{}`)
	folder, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, false, "TOKEN=Bearer [secret]\n", "LANG=xx\n", "PATH="+os.Getenv("PATH")+"\n", "DIR="+folder)
	var names []string
	for line := range strings.Lines(got.Text) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"DIR", "HOME", "LANG", "PARLEY_TEST_FILE", "PARLEY_TEST_SERVER", "PATH", "TOKEN"}, names); diff != "" {
		t.Error(diff)
	}
	want(t, call(t.Context(), t, all["test_refuse"], `{}`), true, "not today, [secret]")
	want(t, call(t.Context(), t, all["test_dirty"], `{}`), false, "ab [secret]")
	if known.Text(hidden) != secret.Mask {
		t.Error("the scrubber that was given does not know the secret")
	}
}

func TestSecretFails(t *testing.T) {
	t.Parallel()
	p := start(t, "good", func(c *mcp.Config) {
		c.Env["TOKEN"] = mcp.Setting{SecretFunc: func(context.Context) (secret.Value, error) {
			return secret.Value{}, parley.Errorf(parley.CodeNotFound, "the keyring has no such item")
		}}
	})
	wantError(t, p.Connect(t.Context()), parley.CodeNotFound, "the variable TOKEN", "the keyring has no such item")
}

func TestPages(t *testing.T) {
	t.Parallel()
	got, all := tools(t, start(t, "paged", nil).Server), tools(t, start(t, "good", nil).Server)
	if len(got) != len(all) || len(got) < 10 {
		t.Errorf("got %d tools by pages of 2, and %d by one", len(got), len(all))
	}
}

// TestModern: a server that refuses the older handshake is asked in the later way.
func TestModern(t *testing.T) {
	t.Parallel()
	p := start(t, "modern", nil)
	all := tools(t, p.Server)
	want(t, call(t.Context(), t, all["test_echo"], `{"a":1}`), false, `{"a":1}`)
	want(t, call(t.Context(), t, all["test_grow"], `{}`), false, "grew")
	eventually(t, "the tool", func() bool { return tools(t, p.Server)["test_grown"] != nil })
}

func TestListChanges(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	all := tools(t, p.Server)
	want(t, call(t.Context(), t, all["test_grow"], `{}`), false, "grew")
	eventually(t, "the tool", func() bool { return tools(t, p.Server)["test_grown"] != nil })
	if all["test_grown"] != nil {
		t.Error("an earlier list has changed")
	}
	want(t, call(t.Context(), t, tools(t, p.Server)["test_grown"], `{}`), false, "here")
}

// TestRequestsAreRefused: the server gets no model, no person and no folder.
func TestRequestsAreRefused(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	got := call(t.Context(), t, tools(t, p.Server)["test_ask"], `{}`)
	for i, line := range strings.Split(got.Text, "\n") {
		if (i == 0) != (line == "ping: <nil>") {
			t.Errorf("line %d: %s", i, line)
		}
	}
	want(t, got, false, "roots: ", "sampling: ", "elicitation: ")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	all := tools(t, p.Server)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := all["test_hang"].Run(ctx, parley.ToolCaller{}, parley.ToolCall{})
		done <- err
	}()
	p.noted(t, "hanging")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	p.noted(t, "cancelled")
	want(t, call(t.Context(), t, all["test_echo"], `{"still":"there"}`), false, "there")
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()
	p := start(t, "good", func(c *mcp.Config) { c.Timeout = 300 * time.Millisecond })
	all := tools(t, p.Server)
	want(t, call(t.Context(), t, all["test_hang"], `{}`), true, "did not answer within 300ms", "unknown whether the call took effect")
	p.noted(t, "cancelled")
}

// TestDies: a call whose server dies is not repeated, and the next one starts the
// server again.
func TestDies(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	p := start(t, "good", func(c *mcp.Config) {
		c.Env["TOKEN"] = mcp.Setting{SecretFunc: func(context.Context) (secret.Value, error) {
			asked.Add(1)
			return secret.NewValue(hidden), nil
		}}
	})
	all := tools(t, p.Server)
	want(t, call(t.Context(), t, all["test_crash"], `{}`), true, "unknown whether the call took effect", "exit status 3", "panic: out of cheese, [secret]")
	want(t, call(t.Context(), t, all["test_echo"], `{"a":1}`), false, `{"a":1}`)
	data, err := os.ReadFile(p.file)
	if err != nil || string(data) != "crash\necho\n" {
		t.Errorf("it ran %q, %v", data, err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the secret was asked for %d times, want once for each start", n)
	}
}

// TestPause: a server that keeps dying is started after pauses that grow; one
// that has answered is not held to account for it.
func TestPause(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	now := time.Unix(1000, 0)
	p.SetNow(func() time.Time { return now })
	all := tools(t, p.Server)
	crash := func() { want(t, call(t.Context(), t, all["test_crash"], `{}`), true, "unknown") }
	refused := func(pause time.Duration) {
		t.Helper()
		err := p.Connect(t.Context())
		wantError(t, err, parley.CodeUnavailable, "is tried again in "+pause.String(), "has stopped", "exit status 3")
		if e, ok := errors.AsType[*parley.Error](err); !ok || e.RetryAfter != pause {
			t.Errorf("got %+v, want to be told to wait for %v", e, pause)
		}
		want(t, call(t.Context(), t, all["test_echo"], `{}`), true, "The call was not sent", "is tried again in")
		now = now.Add(pause)
	}
	crash()
	crash() // at once
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		refused(time.Duration(seconds) * time.Second)
		crash()
	}
	if len(tools(t, p.Server)) != len(all) || !strings.Contains(p.warned.all(), "the last list is used") {
		t.Errorf("the list is not the last one, or nobody was told: %s", p.warned.all())
	}
	refused(time.Minute)
	want(t, call(t.Context(), t, all["test_echo"], `{}`), false)
	crash()
	crash()
	refused(time.Second)
}

// TestTogether: many use a server at once, while it dies and is closed.
func TestTogether(t *testing.T) {
	t.Parallel()
	p := start(t, "good", nil)
	all := tools(t, p.Server)
	var wg sync.WaitGroup
	var answered atomic.Int32
	enough := make(chan struct{})
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				if got := call(t.Context(), t, all["test_echo"], `{"a":1}`); got.Text == `{"a":1}` && answered.Add(1) == 40 {
					close(enough)
				}
				if _, err := p.Tools(t.Context()); err != nil {
					wantError(t, err, parley.CodeUnavailable)
				}
				if i == 0 {
					want(t, call(t.Context(), t, all["test_crash"], `{}`), true)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		wg.Wait()
	}()
	select {
	case <-enough:
	case <-done:
		t.Errorf("only %d calls were answered", answered.Load())
	}
	p.end(t)
	<-done
}

// TestCloseDuringCall: a call that Close ends says so, whether it learns of Close or of
// the end of its connection first.
func TestCloseDuringCall(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*mcp.Server){
		"close": func(*mcp.Server) {}, "connection": (*mcp.Server).HideClose,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closeDuringCall(t, prepare)
		})
	}
}

func closeDuringCall(t *testing.T, prepare func(*mcp.Server)) {
	t.Helper()
	p := start(t, "good", nil)
	all := tools(t, p.Server)
	prepare(p.Server)
	done := make(chan parley.ToolResult, 1)
	go func() { done <- call(t.Context(), t, all["test_hang"], `{}`) }()
	p.noted(t, "hanging")
	p.end(t)
	want(t, <-done, true, "was closed before it answered", "unknown")
	p.noted(t, "ended") // by itself, as its input was closed
	want(t, call(t.Context(), t, all["test_echo"], `{}`), true, "The call was not sent", "is closed")
	_, err := p.Tools(t.Context())
	wantError(t, err, parley.CodeUnavailable, "is closed")
	wantError(t, p.Connect(t.Context()), parley.CodeUnavailable, "is closed")
}
