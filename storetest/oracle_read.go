package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
)

// visible gives a session if v sees it.
func (o *oracle) visible(v parley.Visibility, id parley.SessionID) (*oracleSession, error) {
	s, err := o.session(id)
	if err != nil || !v.Allows(id, o.participants(s)) {
		return nil, missing("session %s", id)
	}
	return s, nil
}

// visibleSessions gives one session, or all that v sees if id is empty, the one
// created first at the front.
func (o *oracle) visibleSessions(v parley.Visibility, id parley.SessionID) ([]*oracleSession, error) {
	if id != "" {
		s, err := o.visible(v, id)
		return []*oracleSession{s}, err
	}
	var list []*oracleSession
	for id := range o.sessions {
		if s, err := o.visible(v, id); err == nil {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *oracleSession) int { return cmp.Compare(a.order, b.order) })
	return list, nil
}

// participants gives who takes part by the session's own log, sorted.
func (o *oracle) participants(s *oracleSession) []parley.IdentityID {
	var list []parley.IdentityID
	for _, pos := range s.shows[s.shared:] {
		change, ok := o.event(pos).body.(*parley.ParticipantChanged)
		if !ok {
			continue
		}
		list = without(list, func(id parley.IdentityID) bool { return id == change.Identity })
		if !change.Left {
			list = append(list, change.Identity)
		}
	}
	slices.Sort(list)
	return list
}

// present gives the session as a reader sees it: its row, and what follows from
// its events and inputs.
func (o *oracle) present(s *oracleSession) parley.Session {
	row := s.row
	row.LastSeq = uint64(len(s.shows))
	row.Queued = o.queued(s)
	row.UpdatedAt = row.CreatedAt
	for i, pos := range s.shows {
		e := o.event(pos)
		if m, ok := e.body.(*parley.Message); ok && m.Preview() != "" {
			row.Preview = m.Preview()
		}
		if i < s.shared {
			continue
		}
		if e.Type.Activity() {
			row.UpdatedAt = e.At
		}
		count(&row.Counters, e)
	}
	return row
}

func count(c *parley.Counters, e *oracleEvent) {
	if e.Type == parley.EventMessage {
		c.Messages++
	}
	done, ok := e.body.(*parley.TurnCompleted)
	if !ok {
		return
	}
	if !done.Uncounted {
		c.Turns++
	}
	c.InputTokens += done.Usage.InputTokens
	c.OutputTokens += done.Usage.OutputTokens
	c.CacheReadTokens += done.Usage.CacheReadTokens
	c.CacheWriteTokens += done.Usage.CacheWriteTokens
	c.CostMicroUSD += done.Usage.CostMicroUSD
	if done.PromptTokens != 0 {
		c.LastPromptTokens = done.PromptTokens
	}
}

func (o *oracle) queued(s *oracleSession) int {
	n := 0
	for _, in := range o.inputs {
		if in.owner == s.order && in.row.State == parley.InputQueued {
			n++
		}
	}
	return n
}

// Session implements [parley.Store].
func (o *oracle) Session(_ context.Context, v parley.Visibility, id parley.SessionID) (parley.Session, error) {
	s, err := o.visible(v, id)
	if err != nil {
		return parley.Session{}, err
	}
	return o.present(s), nil
}

// Participants implements [parley.Store].
func (o *oracle) Participants(_ context.Context, v parley.Visibility, id parley.SessionID) ([]parley.IdentityID, error) {
	s, err := o.visible(v, id)
	if err != nil {
		return nil, err
	}
	return o.participants(s), nil
}

// listed is a session in a list, with its place among those of the same time.
type listed struct {
	parley.Session
	order int
}

// before is the order of lists: the latest activity first, then the newest.
func (l listed) before(m listed) int {
	return cmp.Or(m.UpdatedAt.Compare(l.UpdatedAt), cmp.Compare(m.order, l.order))
}

func (l listed) cursor() string { return fmt.Sprintf("%d.%d", l.UpdatedAt.UnixMicro(), l.order) }

// Sessions implements [parley.Store].
func (o *oracle) Sessions(_ context.Context, v parley.Visibility, q parley.SessionQuery) (parley.SessionPage, error) {
	var from listed
	if q.Cursor != "" {
		var micros int64
		_, err := fmt.Sscanf(q.Cursor, "%d.%d", &micros, &from.order)
		from.UpdatedAt = time.UnixMicro(micros).UTC()
		if err != nil || from.cursor() != q.Cursor {
			return parley.SessionPage{}, parley.Errorf(parley.CodeInvalid, "cursor is not one of this store")
		}
	}
	var list []listed
	seen, _ := o.visibleSessions(v, "")
	for _, s := range seen {
		l := listed{o.present(s), s.order}
		if matches(q, l.Session) && (q.Cursor == "" || from.before(l) < 0) {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, listed.before)
	var page parley.SessionPage
	if limit := parley.PageSize(q.Limit); len(list) > limit {
		list = list[:limit]
		page.Cursor = list[limit-1].cursor()
	}
	for _, l := range list {
		page.Sessions = append(page.Sessions, l.Session)
	}
	return page, nil
}

func matches(q parley.SessionQuery, s parley.Session) bool {
	for name, value := range q.Metadata {
		if is, there := s.Metadata[name]; !there || is != value {
			return false
		}
	}
	hidden := s.Status == parley.StatusInactive && !q.IncludeInactive && q.Status != parley.StatusInactive
	return !hidden &&
		(q.Status == "" || s.Status == q.Status) &&
		(q.Source == "" || s.Source.Kind == q.Source) &&
		(q.Agent == "" || s.Agent.Name == q.Agent) &&
		(q.Key == "" || s.Key == q.Key) &&
		!s.UpdatedAt.Before(q.ActiveSince)
}

// Lookup implements [parley.Store]. A name that is not of a scope is an alias, if
// it is one, before it is a key.
func (o *oracle) Lookup(_ context.Context, v parley.Visibility, name string) (parley.KeyEntry, error) {
	key := parley.Key(name)
	owner, isAlias := o.aliases[parley.Alias(name)]
	if _, isKey := o.keys[key]; isAlias && (!isKey || !strings.HasPrefix(name, "sk_v1_")) {
		key = owner
	}
	return o.seenKey(v, key)
}

// seenKey gives a key. One that leads nowhere belongs to no namespace and to
// nobody, so only a reader of everything finds it.
func (o *oracle) seenKey(v parley.Visibility, key parley.Key) (parley.KeyEntry, error) {
	k, known := o.keys[key]
	if !known {
		return parley.KeyEntry{}, missing("key %s", key)
	}
	if k.current == "" {
		if !v.All || v.Namespace != "" {
			return parley.KeyEntry{}, missing("key %s", key)
		}
	} else if _, err := o.visible(v, k.current); err != nil {
		return parley.KeyEntry{}, missing("key %s", key)
	}
	return parley.KeyEntry{Key: key, Current: k.current, Scope: k.scope}, nil
}

// Aliases implements [parley.Store].
func (o *oracle) Aliases(_ context.Context, v parley.Visibility, key parley.Key) (list []parley.Alias, err error) {
	if _, err := o.seenKey(v, key); err != nil {
		return nil, err
	}
	for alias, owner := range o.aliases {
		if owner == key {
			list = append(list, alias)
		}
	}
	slices.SortFunc(list, func(a, b parley.Alias) int { return strings.Compare(string(a), string(b)) })
	return list, nil
}
