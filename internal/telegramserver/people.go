package telegramserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The kinds of chats.
const (
	KindPrivate    = "private"
	KindGroup      = "group"
	KindSupergroup = "supergroup"
)

// Chat is a chat that the bot is in, or was.
type Chat struct {
	ID   int64
	Kind string

	ref      ChatRef
	members  []int64
	admin    bool // the bot is an administrator
	messages []*record
	last     int // number of the last message of a supergroup
	topics   map[int]*topic
	refusal  *apiError // why the bot cannot write
	moved    int64     // the supergroup that a group became
}

// topic is a topic of a forum; its id is that of the message that opened it.
type topic struct {
	name   string
	opened *Message
	closed bool
}

// AddUser adds a person. Their id is made unless it is given.
func (s *Server) AddUser(u User) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == 0 {
		s.nextUser++
		u.ID = s.nextUser
	}
	s.users[u.ID] = &u
	return u
}

// Private gives the chat of a person with the bot, which they started.
func (s *Server) Private(u User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.chats[u.ID]; ok {
		return c
	}
	c := &Chat{ID: u.ID, Kind: KindPrivate, members: []int64{u.ID}}
	c.ref = ChatRef{ID: u.ID, Type: KindPrivate, FirstName: u.FirstName, LastName: u.LastName, Username: u.Username}
	s.chats[u.ID] = c
	return c
}

// Group makes a plain group, with the bot in it.
func (s *Server) Group(title string, members ...User) *Chat {
	return s.addChat(KindGroup, title, false, members)
}

// Supergroup makes a supergroup, with the bot in it.
func (s *Server) Supergroup(title string, members ...User) *Chat {
	return s.addChat(KindSupergroup, title, false, members)
}

// Forum makes a supergroup with topics, with the bot in it.
func (s *Server) Forum(title string, members ...User) *Chat {
	return s.addChat(KindSupergroup, title, true, members)
}

func (s *Server) addChat(kind, title string, forum bool, members []User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newChat(kind, title, forum, ids(members))
}

func ids(users []User) []int64 {
	out := make([]int64, len(users))
	for i, u := range users {
		out[i] = u.ID
	}
	return out
}

// newChat makes a chat. The caller holds mu.
func (s *Server) newChat(kind, title string, forum bool, members []int64) *Chat {
	s.nextChat++
	id := -s.nextChat
	if kind == KindSupergroup {
		id -= 1_000_000_000_000 // such ids start with -100
	}
	c := &Chat{ID: id, Kind: kind, members: members, topics: make(map[int]*topic)}
	c.ref = ChatRef{ID: id, Type: kind, Title: title, IsForum: forum}
	s.chats[id] = c
	return c
}

// Topic opens a topic in a forum and gives its id. The bot gets the service
// message.
func (s *Server) Topic(c *Chat, by User, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.ref.IsForum {
		panic("telegramserver: topics are for forums")
	}
	r := s.newRecord(c, &by)
	r.now.ThreadID, r.now.IsTopicMessage = r.now.ID, true
	r.now.TopicCreated = &TopicCreated{Name: name, IconColor: 7322096}
	c.topics[r.now.ID] = &topic{name: name, opened: r.snapshot()}
	s.enqueue(Update{Message: r.snapshot()})
	return r.now.ID
}

// CloseTopic closes a topic: bots that are no administrators cannot write there.
func (s *Server) CloseTopic(c *Chat, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.topics[id].closed = true
}

// Join is somebody adding the bot to a group, of which it is told twice: that its
// place changed, and by the service message that everybody sees.
func (s *Server) Join(c *Chat, by User) {
	s.setPlace(c, by, nil, "left", "member")
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.newRecord(c, &by)
	r.now.NewMembers = []User{s.bot}
	s.enqueue(Update{Message: r.snapshot()})
}

// Promote makes the bot an administrator of a group, who sees everything.
func (s *Server) Promote(c *Chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.admin = true
}

// Block is a person blocking the bot.
func (s *Server) Block(u User) {
	s.setPlace(s.Private(u), u, forbidden("bot was blocked by the user"), "member", "kicked")
}

// Unblock is a person taking that back.
func (s *Server) Unblock(u User) {
	s.setPlace(s.Private(u), u, nil, "kicked", "member")
}

// Kick throws the bot out of a group.
func (s *Server) Kick(c *Chat, by User) {
	s.setPlace(c, by, forbidden(fmt.Sprintf("bot was kicked from the %s chat", c.Kind)), "member", "kicked")
}

// setPlace changes whether the bot may write in a chat, and tells it.
func (s *Server) setPlace(c *Chat, by User, refusal *apiError, old, now string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.refusal = refusal
	s.enqueue(Update{MyChatMember: &MemberUpdate{
		Chat: c.ref, From: by, Date: s.clock.Now().Unix(),
		Old: member(s.bot, old), New: member(s.bot, now),
	}})
}

// member is a place in a chat as the wire has it.
func member(u User, status string) ChatMember {
	m := ChatMember{Status: status, User: u}
	if status == "kicked" {
		m.Until = new(int64)
	}
	return m
}

// Upgrade makes a plain group a supergroup, which has another id. Writing to the
// old one is refused from then on, with the new id.
func (s *Server) Upgrade(c *Chat, by User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	grown := s.newChat(KindSupergroup, c.ref.Title, false, slices.Clone(c.members))
	c.moved = grown.ID
	old := s.newRecord(c, &by)
	old.now.MigrateTo = grown.ID
	s.enqueue(Update{Message: old.snapshot()})
	first := s.newRecord(grown, &by)
	first.now.MigrateFrom = c.ID
	s.enqueue(Update{Message: first.snapshot()})
	return grown
}

// chatOf gives the chat that a request is about, 0 if none. Chats here have no
// public names.
func chatOf(p *params) int64 {
	id, err := strconv.ParseInt(strings.TrimSpace(p.values["chat_id"]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// find gives the chat of a call. The caller holds mu.
func (s *Server) find(c *call) (*Chat, *apiError) {
	if strings.TrimSpace(c.values["chat_id"]) == "" {
		return nil, badRequest("chat_id is empty")
	}
	chat, ok := s.chats[c.chat]
	if !ok {
		if _, known := s.users[c.chat]; known {
			return nil, forbidden("bot can't initiate conversation with a user")
		}
		return nil, badRequest("chat not found")
	}
	return chat, nil
}

// writable gives the chat of a call if the bot may write there. The caller holds
// mu.
func (s *Server) writable(c *call) (*Chat, *apiError) {
	chat, failure := s.find(c)
	switch {
	case failure != nil:
		return nil, failure
	case chat.moved != 0:
		failure := badRequest("group chat was upgraded to a supergroup chat")
		failure.migrateTo = chat.moved
		return nil, failure
	case chat.refusal != nil:
		return nil, chat.refusal
	}
	return chat, nil
}

// getChat gives what is known of a chat.
func (s *Server) getChat(c *call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, failure := s.find(c)
	if failure != nil {
		return nil, failure
	}
	full := struct {
		ChatRef
		AccentColor  int             `json:"accent_color_id"`
		MaxReactions int             `json:"max_reaction_count"`
		Permissions  map[string]bool `json:"permissions,omitempty"`
	}{ChatRef: chat.ref, AccentColor: 2, MaxReactions: 11}
	if chat.Kind != KindPrivate {
		full.Permissions = map[string]bool{"can_send_messages": true, "can_send_photos": true, "can_send_documents": true, "can_send_voice_notes": true}
	}
	return full, nil
}

// getChatMember gives somebody's place in a chat.
func (s *Server) getChatMember(c *call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, failure := s.find(c)
	if failure != nil {
		return nil, failure
	}
	id := c.number("user_id")
	if id == s.bot.ID {
		switch {
		case chat.refusal != nil:
			return member(s.bot, "kicked"), nil
		case chat.admin:
			return member(s.bot, "administrator"), nil
		}
		return member(s.bot, "member"), nil
	}
	u, ok := s.users[id]
	if !ok {
		return nil, badRequest("invalid user_id specified")
	}
	switch place := slices.Index(chat.members, id); {
	case place < 0:
		return member(*u, "left"), nil
	case place == 0 && chat.Kind != KindPrivate:
		return member(*u, "creator"), nil
	default:
		return member(*u, "member"), nil
	}
}
