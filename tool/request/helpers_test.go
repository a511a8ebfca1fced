package request_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
	"github.com/parley-run/parley/tool/request"
)

// local is a guard that allows this machine.
func local() *tool.Guard {
	return tool.NewGuard(tool.GuardConfig{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return srv
}

// raw starts a server that reads the head of a request and then does what it
// likes. It gives its address.
func raw(t *testing.T, talk func(conn net.Conn)) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = conn.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					talk(conn)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String() + "/"
}

// run runs a call as a registry does, its arguments checked.
func run(ctx context.Context, t *testing.T, cfg request.Config, args map[string]any) (parley.ToolResult, error) {
	t.Helper()
	if cfg.Guard == nil {
		cfg.Guard = local()
	}
	h, err := request.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.New([]tool.Group{{Name: request.Name, Tools: []parley.Tool{h}}}, tool.Config{MaxResult: 500_000})
	if err != nil {
		t.Fatal(err)
	}
	p := parley.Principal{Identity: "test:1", Role: parley.RoleUser}
	s, err := r.For(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	arguments, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(ctx, parley.ToolCaller{Principal: p}, parley.ToolCall{ID: "c1", Name: request.Name, Arguments: arguments})
}

// want runs a call and looks for texts in its result.
func want(t *testing.T, cfg request.Config, args map[string]any, isError bool, texts ...string) parley.ToolResult {
	t.Helper()
	res, err := run(t.Context(), t, cfg, args)
	if err != nil {
		t.Fatal(err)
	}
	if res.IsError != isError {
		t.Errorf("got %+v", res)
	}
	for _, text := range texts {
		if !strings.Contains(res.Text, text) {
			t.Errorf("got %q, want %q", res.Text, text)
		}
	}
	return res
}
