package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
)

// remote is a tool of a server.
type remote struct {
	server *Server
	raw    string // its name there
	spec   parley.ToolSpec
}

// Spec describes the tool as the server did when its list was asked for.
func (r *remote) Spec() parley.ToolSpec {
	spec := r.spec
	spec.Schema = bytes.Clone(spec.Schema)
	return spec
}

// Run sends the call, once. If ctx ends the server is told that nobody waits any
// more, and Run returns at once.
func (r *remote) Run(ctx context.Context, _ parley.ToolCaller, call parley.ToolCall) (parley.ToolResult, error) {
	for again := true; ; again = false {
		l, err := r.server.use(ctx)
		if ctx.Err() != nil {
			return parley.ToolResult{}, ctx.Err()
		}
		if err != nil {
			return failed("The call was not sent. %v", err), nil
		}
		result, resend, err := r.send(ctx, l, call.Arguments)
		if !resend || !again {
			return result, err
		}
	}
}

// send sends the call over a connection, and reports whether it has to be sent
// over another one because nothing of it has left.
func (r *remote) send(ctx context.Context, l *link, arguments json.RawMessage) (result parley.ToolResult, resend bool, err error) {
	s := r.server
	limited, leave := s.joinFunc(ctx)
	defer leave()
	limited, cancel := context.WithTimeout(limited, s.cfg.Timeout)
	defer cancel()
	n := &note{}
	params := &sdk.CallToolParams{Name: r.raw}
	if len(arguments) > 0 {
		params.Arguments = arguments
	}
	answer, err := l.session.CallTool(withNote(limited, n), params)
	if err == nil {
		s.worked()
		result, err = s.result(ctx, answer)
		return result, false, err
	}
	if ctx.Err() != nil {
		return parley.ToolResult{}, false, ctx.Err()
	}
	if err := limited.Err(); err != nil {
		return s.late(err, n), false, nil
	}
	if e := answered(err); e != nil {
		s.worked()
		s.lost(ctx, l, n, err)
		return failed("MCP server %s refused the call: %s (code %d)", s.cfg.Name, said(s.cfg.Scrubber, e.Message), e.Code), false, nil
	}
	// Close ends the calls and the connection at the same time: a call may see the
	// connection end first.
	if s.isClosed() {
		return s.late(context.Canceled, n), false, nil
	}
	lost := s.lost(ctx, l, n, err)
	if ctx.Err() != nil {
		return parley.ToolResult{}, false, ctx.Err()
	}
	why := s.because(l, lost, err)
	status := int(n.status.Load())
	switch {
	case !n.sent.Load():
		return failed("The call was not sent to MCP server %s: %s", s.cfg.Name, why), lost, nil
	case status == http.StatusNotFound:
		return failed("MCP server %s has forgotten the session and did not run the call; a call made now gets a new session.", s.cfg.Name), false, nil
	case status >= 300 && status < 500 && status != http.StatusRequestTimeout:
		return failed("MCP server %s refused the call: %s", s.cfg.Name, why), false, nil
	}
	return failed("The connection to MCP server %s failed while the call ran: %s\n%s", s.cfg.Name, why, unknown), false, nil
}

// unknown is what the model is told of a call that has not been answered.
const unknown = "It is unknown whether the call took effect, in whole or in part. It is not repeated; find out before you call again."

// late is the result of a call that was given up here.
func (s *Server) late(err error, n *note) parley.ToolResult {
	why := fmt.Sprintf("MCP server %s did not answer within %v, and was told to stop.", s.cfg.Name, s.cfg.Timeout)
	if !errors.Is(err, context.DeadlineExceeded) {
		why = fmt.Sprintf("MCP server %s was closed before it answered.", s.cfg.Name)
	}
	if !n.sent.Load() {
		return failed("%s The call was not sent.", why)
	}
	return failed("%s\n%s", why, unknown)
}

func failed(format string, args ...any) parley.ToolResult {
	return parley.ToolResult{Text: fmt.Sprintf(format, args...), IsError: true}
}

// settleTimeout is how long a failed call waits for what its program has to say
// about it.
const settleTimeout = time.Second

// lost reports whether a request failed because its connection is gone, and gives
// up one whose session the server does not know.
func (s *Server) lost(ctx context.Context, l *link, n *note, err error) bool {
	if n.status.Load() == http.StatusNotFound {
		s.drop(l, false)
		return true
	}
	if answered(err) != nil {
		return false
	}
	// By HTTP a request can fail alone.
	if s.cfg.URL != "" && !errors.Is(err, sdk.ErrConnectionClosed) || !broken(err) {
		return false
	}
	if _, known := errors.AsType[*parley.Error](err); known {
		s.drop(l, true) // what it said is why
		return true
	}
	timer := time.NewTimer(settleTimeout)
	defer timer.Stop()
	select {
	case <-l.gone:
		return true
	case <-ctx.Done():
	case <-timer.C:
	}
	// It is of no use any more, but takes its time.
	s.drop(l, true)
	return true
}

// answered gives the error that the server has answered with, or nil if it did
// not. The library has one of the same type for what did not get through.
func answered(err error) *jsonrpc.Error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || e.Code == -32005 && e.Message == "rejected by transport" {
		return nil
	}
	return e
}

// broken reports whether an error is one of the connection, and not of an answer
// that cannot be read.
func broken(err error) bool {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return true
	}
	for _, target := range []error{sdk.ErrConnectionClosed, io.EOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// because says why a request failed.
func (s *Server) because(l *link, lost bool, err error) string {
	if e, ok := errors.AsType[*parley.Error](err); ok && s.cfg.URL == "" {
		return e.Message
	}
	if lost && s.cfg.URL == "" {
		select {
		case <-l.gone:
			if l.reason != "" {
				return l.reason
			}
		default:
		}
		return "its program has stopped answering"
	}
	if s.cfg.URL != "" {
		return l.over.why(err)
	}
	return said(s.cfg.Scrubber, err.Error())
}
