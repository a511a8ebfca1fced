package telegramserver

import (
	"fmt"
	"slices"
	"strings"
)

// Post is what a person writes.
type Post struct {
	Text    string // the caption, if there are files
	Topic   int    // a topic of a forum
	ReplyTo int    // the id of a message of the chat
	Forward *User  // whose message it is that they pass on
	// Entities are those of Text instead of what the server finds in it; an empty
	// list that is not nil is none.
	Entities []Entity
	Photos   []File // more than one is an album
	Document *File
	Voice    *File
}

// Say is a person writing a text. It gives the message.
func (s *Server) Say(c *Chat, from User, text string) Message {
	return s.Post(c, from, Post{Text: text})[0]
}

// Post is a person writing, maybe with files; an album gives several messages. The
// bot gets them unless privacy mode keeps them from it.
func (s *Server) Post(c *Chat, from User, post Post) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Kind != KindPrivate && !slices.Contains(c.members, from.ID) {
		c.members = append(c.members, from.ID)
	}
	album := ""
	if len(post.Photos) > 1 {
		s.nextAlbum++
		album = fmt.Sprintf("1377%013d", s.nextAlbum)
	}
	var out []Message
	for i := range max(1, len(post.Photos)) {
		r := s.newRecord(c, &from)
		s.fill(c, r, post, i)
		r.now.MediaGroupID = album
		if s.visible(c, &r.now) {
			s.enqueue(Update{Message: r.snapshot()})
		}
		out = append(out, r.now)
	}
	s.notify()
	return out
}

// fill makes a message of the i-th part of a post. The caller holds mu.
func (s *Server) fill(c *Chat, r *record, post Post, i int) {
	m := &r.now
	switch {
	case len(post.Photos) > 0:
		m.Photo = s.addPhoto(post.Photos[i])
	case post.Document != nil:
		m.Document = s.addFile("documents", *post.Document)
	case post.Voice != nil:
		m.Voice = s.addFile("voice", *post.Voice)
		m.Voice.Duration = 3
	}
	f := formatted{text: post.Text}.clean()
	if f.entities = post.Entities; post.Entities == nil {
		f.entities = detect(f)
	}
	switch {
	case !m.hasMedia():
		m.Text, m.Entities = f.text, f.entities
	case i == 0: // an album's caption is that of its first picture
		m.Caption, m.CaptionEntities = f.text, f.entities
	}
	if post.Forward != nil {
		who := *post.Forward
		m.ForwardOrigin = &Origin{Type: "user", Date: m.Date, SenderUser: &who}
	}
	s.locate(c, m, post)
}

// locate puts a message into its topic, and beside what it replies to. The caller
// holds mu.
func (s *Server) locate(c *Chat, m *Message, post Post) {
	if post.Topic != 0 {
		opened, ok := c.topics[post.Topic]
		if !ok {
			panic(fmt.Sprintf("telegramserver: there is no topic %d", post.Topic))
		}
		// A message in a topic that replies to nothing is shown as a reply to the one
		// that opened the topic.
		m.ThreadID, m.IsTopicMessage, m.ReplyTo = post.Topic, true, opened.opened
	}
	if post.ReplyTo == 0 {
		return
	}
	r := c.message(post.ReplyTo)
	if r == nil {
		panic(fmt.Sprintf("telegramserver: there is no message %d to reply to", post.ReplyTo))
	}
	m.ReplyTo = r.quoted()
	switch {
	case r.now.IsTopicMessage:
		m.ThreadID, m.IsTopicMessage = r.now.ThreadID, true
	case c.Kind == KindSupergroup && !c.ref.IsForum:
		// Replies in supergroups have a thread, though there are no topics.
		m.ThreadID = r.now.ThreadID
		if m.ThreadID == 0 {
			m.ThreadID = r.now.ID
		}
	}
}

// Edit is a person changing the text or caption of a message of theirs.
func (s *Server) Edit(c *Chat, id int, text string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := c.message(id)
	if r == nil {
		panic(fmt.Sprintf("telegramserver: there is no message %d to edit", id))
	}
	f := formatted{text: text}.clean()
	f.entities = detect(f)
	if r.now.hasMedia() {
		r.now.Caption, r.now.CaptionEntities = f.text, f.entities
	} else {
		r.now.Text, r.now.Entities = f.text, f.entities
	}
	r.now.EditDate = s.clock.Now().Unix()
	if s.visible(c, &r.now) {
		s.enqueue(Update{EditedMessage: r.snapshot()})
	}
	s.notify()
	return r.now
}

// visible reports whether the bot is shown a message. The caller holds mu.
func (s *Server) visible(c *Chat, m *Message) bool {
	if c.refusal != nil {
		return false
	}
	if c.Kind == KindPrivate || c.admin || !s.cfg.Privacy {
		return true
	}
	if m.ReplyTo != nil && m.ReplyTo.From != nil && m.ReplyTo.From.ID == s.bot.ID && m.ReplyTo.TopicCreated == nil {
		return true
	}
	text, entities := m.Text, m.Entities
	if m.hasMedia() {
		text, entities = m.Caption, m.CaptionEntities
	}
	for _, e := range entities {
		start, _ := byteAt(text, e.Offset)
		end, _ := byteAt(text, e.Offset+e.Length)
		word := text[start:end]
		switch e.Type {
		case "mention":
			if strings.EqualFold(word, "@"+s.bot.Username) {
				return true
			}
		case "text_mention":
			if e.User.ID == s.bot.ID {
				return true
			}
		case "bot_command":
			_, whose, addressed := strings.Cut(word, "@")
			if !addressed && e.Offset == 0 || strings.EqualFold(whose, s.bot.Username) {
				return true
			}
		}
	}
	return false
}
