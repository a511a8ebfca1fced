package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

// Group gives the tools as a group with the server's name.
func (s *Server) Group(ctx context.Context) (tool.Group, error) {
	tools, err := s.Tools(ctx)
	return tool.Group{Name: s.cfg.Name, Tools: tools}, err
}

// Tools gives the tools of the server, sorted by name; the list and what it holds
// do not change. The server is asked when it was never asked on this connection,
// when it said that its list has changed, and each time if it is one by HTTP whose
// list can change. When it cannot be asked and was before, its last list is given,
// and Config.WarnFunc is told.
//
// A tool that cannot be used is left out, a long description is cut; WarnFunc is
// told. Names are made of the server's name and the tool's own, and are unique
// within the server.
func (s *Server) Tools(ctx context.Context) ([]parley.Tool, error) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if list, ok := s.known(); ok {
		return list, nil
	}
	list, err := s.askAgain(ctx)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list = list
		return slices.Clone(list), nil
	}
	s.mu.Lock()
	s.stale = true
	list, closed := s.list, s.closed
	s.mu.Unlock()
	if list == nil || closed || ctx.Err() != nil {
		return nil, err
	}
	s.warn("its tools could not be asked for, the last list is used: %v", err)
	return slices.Clone(list), nil
}

// known gives the last list if it still holds.
func (s *Server) known() ([]parley.Tool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil || s.stale || s.closed || s.link != nil && s.link.unnoticed {
		return nil, false
	}
	return slices.Clone(s.list), true
}

// askAgain asks for the list, and once more if the connection was found to be
// gone: asking changes nothing.
func (s *Server) askAgain(ctx context.Context) ([]parley.Tool, error) {
	for again := true; ; again = false {
		l, err := s.use(ctx)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.stale = false // what is told from here on counts for the next time
		s.mu.Unlock()
		list, lost, err := s.ask(ctx, l)
		if err == nil || !lost || !again {
			return list, err
		}
	}
}

// ask asks for the list over a connection, and reports whether it was lost.
func (s *Server) ask(ctx context.Context, l *link) (list []parley.Tool, lost bool, err error) {
	limited, leave := s.joinFunc(ctx)
	defer leave()
	limited, cancel := context.WithTimeout(limited, s.cfg.Timeout)
	defer cancel()
	n := &note{}
	found, err := s.pages(withNote(limited, n), l)
	switch {
	case err == nil:
		return s.name(found), false, nil
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case s.isClosed():
		return nil, false, s.errClosed()
	case limited.Err() != nil:
		return nil, false, parley.Errorf(parley.CodeUnavailable, "MCP server %s did not list its tools within %v", s.cfg.Name, s.cfg.Timeout)
	}
	if e := answered(err); e != nil && e.Code == jsonrpc.CodeMethodNotFound {
		return []parley.Tool{}, false, nil // it has none
	}
	lost = s.lost(ctx, l, n, err)
	return nil, lost, &parley.Error{Code: parley.CodeUnavailable, Message: "MCP server " + s.cfg.Name + " did not list its tools: " + s.because(l, lost, err)}
}

// pages reads the list page by page. What is too much is left out on the way, so
// that a list without end costs nothing.
func (s *Server) pages(ctx context.Context, l *link) ([]*remote, error) {
	var found []*remote
	seen := map[string]bool{}
	cursors := map[string]bool{}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := l.session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if len(found) == maxTools {
				s.warn("it has more than %d tools; the rest is left out", maxTools)
				return found, nil
			}
			if r := s.remote(t, seen); r != nil {
				found = append(found, r)
			}
		}
		if page.NextCursor == "" {
			return found, nil
		}
		if cursors[page.NextCursor] {
			s.warn("its list of tools goes round in circles; what came so far is used")
			return found, nil
		}
		cursors[page.NextCursor] = true
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	s.warn("its list of tools has more than %d pages; the rest is left out", maxPages)
	return found, nil
}

// remote makes a tool that has no name yet, or nil if it cannot be used.
func (s *Server) remote(t *sdk.Tool, seen map[string]bool) *remote {
	switch {
	case t.Name == "" || len(t.Name) > maxRawName || plain(s.cfg.Scrubber, t.Name) != t.Name:
		s.warn("a tool was left out: its name %.80q cannot be used", plain(s.cfg.Scrubber, t.Name))
		return nil
	case seen[t.Name]:
		s.warn("the tool %q was left out: there is one of that name", t.Name)
		return nil
	}
	seen[t.Name] = true
	schema, err := schemaOf(t.InputSchema, s.cfg.Scrubber)
	if err != nil {
		s.warn("the tool %q was left out: %v", t.Name, err)
		return nil
	}
	text := t.Description
	if text == "" {
		text = t.Title
	}
	text, less := cut(strings.TrimSpace(plain(s.cfg.Scrubber, text)), maxDescription-len("…"))
	if less {
		s.warn("the description of the tool %q was cut to %d bytes", t.Name, maxDescription)
		text += "…"
	}
	r := &remote{server: s, raw: t.Name, spec: parley.ToolSpec{Name: "tool", Description: text, Schema: schema}}
	// A registry refuses all tools if it cannot use one.
	if _, err := tool.New([]tool.Group{{Name: s.cfg.Name, Tools: []parley.Tool{r}}}, tool.Config{}); err != nil {
		s.warn("the tool %q was left out: its schema cannot be used: %v", t.Name, errors.Unwrap(err))
		return nil
	}
	return r
}

// name gives the tools their names, and sorts them.
func (s *Server) name(found []*remote) []parley.Tool {
	raw := make([]string, len(found))
	for i, r := range found {
		raw[i] = r.raw
	}
	by := names(s.cfg.Name, raw)
	list := make([]parley.Tool, 0, len(found))
	for _, r := range found {
		name, ok := by[r.raw]
		if !ok {
			s.warn("the tool %q was left out: no name is left for it", r.raw)
			continue
		}
		r.spec.Name = name
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b parley.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return list
}
