package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// maxLooked is among how many sessions, those used last, an abbreviation is looked
// for.
const maxLooked = 10_000

// sessionFinder is where sessions are looked for.
type sessionFinder interface {
	Session(ctx context.Context, id parley.SessionID) (parley.Session, error)
	Sessions(ctx context.Context, q parley.SessionQuery) (parley.SessionPage, error)
}

// findSession gives the session that somebody means: by its id, or by its namespace, a beginning of
// what follows the colon, of its last word, or of the key whose current session
// it is, if that is only one's. What has something behind a colon is a whole id, so that a conversation
// that is not there is never taken for another. What fits none is [parley.CodeNotFound], what fits
// several [parley.CodeInvalid].
func findSession(ctx context.Context, c sessionFinder, text string) (parley.Session, error) {
	if isWholeID(text) {
		id := parley.SessionID(text)
		if err := id.Validate(); err != nil {
			return parley.Session{}, err
		}
		s, err := c.Session(ctx, id)
		if errors.Is(err, parley.ErrNotFound) {
			err = parley.Errorf(parley.CodeNotFound, "there is no session %q; 'parley sessions' lists them", text)
		}
		return s, err
	}
	var found []parley.Session
	q := parley.SessionQuery{IncludeInactive: true, Limit: parley.MaxPageSize}
	for looked := 0; text != "" && looked < maxLooked; {
		page, err := c.Sessions(ctx, q)
		if err != nil {
			return parley.Session{}, err
		}
		for _, s := range page.Sessions {
			if abbreviates(text, s) {
				found = append(found, s)
			}
		}
		looked += parley.MaxPageSize
		if q.Cursor = page.Cursor; q.Cursor == "" {
			break
		}
	}
	switch len(found) {
	case 0:
		return parley.Session{}, parley.Errorf(parley.CodeNotFound, "there is no session %q; 'parley sessions' lists them", text)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, s := range found[:min(len(found), 3)] {
		names = append(names, string(s.ID))
	}
	more := ""
	if n := len(found) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return parley.Session{}, parley.Errorf(parley.CodeInvalid, "%q may be %s%s; give more of the id", text, strings.Join(names, ", "), more)
}

// isWholeID reports whether a text is not meant as an abbreviation.
func isWholeID(text string) bool {
	_, name, _ := strings.Cut(text, ":")
	return name != ""
}

// abbreviates reports whether a text may stand for a session.
func abbreviates(text string, s parley.Session) bool {
	_, name, _ := strings.Cut(string(s.ID), ":")
	last := name[strings.LastIndexByte(name, '_')+1:]
	return strings.HasPrefix(string(s.ID), text) || strings.HasPrefix(name, text) || strings.HasPrefix(last, text) ||
		s.Ended == nil && strings.HasPrefix(string(s.Key), text)
}
