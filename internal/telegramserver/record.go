package telegramserver

import (
	"context"
	"slices"
	"time"
)

// record is a message in a chat and what became of it. Its slices and pointers are
// replaced, never changed, so that a copy stays as it was.
type record struct {
	now     Message
	byBot   bool
	at      time.Time
	method  string
	mode    string
	raw     string
	edits   []Edit
	deleted bool
}

// Edit is what a message was at one time.
type Edit struct {
	At       time.Time
	Text     string // or the caption
	Entities []Entity
	Keyboard *Keyboard
}

// Sent is a message that the bot sent, as it is now, with its past.
type Sent struct {
	Message
	Method    string
	At        time.Time
	ParseMode string
	Raw       string // the text or caption as it was last asked for, before parsing
	Versions  []Edit // what was sent first, and what each edit made of it
	Deleted   bool
}

// newRecord puts an empty message into a chat. The caller holds mu.
func (s *Server) newRecord(c *Chat, from *User) *record {
	var id int
	if c.Kind == KindSupergroup {
		c.last++
		id = c.last
	} else {
		s.nextID++
		id = s.nextID
	}
	now := s.clock.Now()
	author := *from
	r := &record{at: now, byBot: from.ID == s.bot.ID, now: Message{ID: id, From: &author, Chat: c.ref, Date: now.Unix()}}
	c.messages = append(c.messages, r)
	return r
}

// snapshot gives the message as it is now.
func (r *record) snapshot() *Message {
	m := r.now
	return &m
}

// quoted gives the message as a reply to it holds it: without what it replies to
// itself.
func (r *record) quoted() *Message {
	m := r.now
	m.ReplyTo = nil
	return &m
}

// remember keeps a version of the message.
func (r *record) remember(at time.Time) {
	version := Edit{At: at, Text: r.now.Text, Entities: r.now.Entities, Keyboard: r.now.ReplyMarkup}
	if r.now.hasMedia() {
		version.Text, version.Entities = r.now.Caption, r.now.CaptionEntities
	}
	r.edits = append(r.edits, version)
}

// message finds a message of a chat that is still there. The caller holds mu.
func (c *Chat) message(id int) *record {
	i, ok := slices.BinarySearchFunc(c.messages, id, func(r *record, id int) int { return r.now.ID - id })
	if !ok || c.messages[i].deleted {
		return nil
	}
	return c.messages[i]
}

// Sent gives what the bot sent to a chat, in its order, deleted messages included.
func (s *Server) Sent(c *Chat) []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.sent()
}

// AllSent gives what the bot sent to every chat, by chat.
func (s *Server) AllSent() map[int64][]Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[int64][]Sent)
	for id, c := range s.chats {
		if sent := c.sent(); len(sent) > 0 {
			all[id] = sent
		}
	}
	return all
}

func (c *Chat) sent() []Sent {
	var out []Sent
	for _, r := range c.messages {
		if r.byBot {
			out = append(out, Sent{
				Message: r.now, Method: r.method, At: r.at, ParseMode: r.mode, Raw: r.raw,
				Versions: slices.Clone(r.edits), Deleted: r.deleted,
			})
		}
	}
	return out
}

// WaitSent waits until the bot has sent n messages to a chat, and gives them.
func (s *Server) WaitSent(ctx context.Context, c *Chat, n int) ([]Sent, error) {
	var sent []Sent
	err := s.Wait(ctx, func() bool {
		sent = s.Sent(c)
		return len(sent) >= n
	})
	return sent, err
}

// Calls gives the requests that a method had, or all for an empty name.
func (s *Server) Calls(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Call
	for _, c := range s.calls {
		if method == "" || c.Method == method {
			out = append(out, c)
		}
	}
	return out
}

// Action is that the bot showed itself typing, or the like.
type Action struct {
	Chat   int64
	Thread int
	Action string
	At     time.Time
}

// Actions gives what the bot showed itself doing in a chat.
func (s *Server) Actions(c *Chat) []Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Action
	for _, a := range s.actions {
		if a.Chat == c.ID {
			out = append(out, a)
		}
	}
	return out
}

// Violation is something that a bot must not do.
type Violation struct {
	Kind   ViolationKind
	Method string
	Chat   int64
	At     time.Time
	Detail string
}

// ViolationKind is a kind of violation.
type ViolationKind string

// The kinds of violations.
const (
	ViolationOverall    ViolationKind = "overall limit"
	ViolationChat       ViolationKind = "limit of a chat"
	ViolationRetryAfter ViolationKind = "did not wait for retry_after"
	ViolationEntities   ViolationKind = "more than 100 entities"
	ViolationNesting    ViolationKind = "markup that cannot be nested"
	ViolationRefused    ViolationKind = "strict refusal"
)

// Violations gives what the bot did that it must not do.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refusals)
}

// violate keeps a violation. The caller holds mu.
func (s *Server) violate(kind ViolationKind, c *call, detail string) {
	s.refusals = append(s.refusals, Violation{Kind: kind, Method: c.method, Chat: c.chat, At: s.clock.Now(), Detail: detail})
}
