package telegramserver

import "reflect"

// editable gives the message that an edit is about. The caller holds mu.
func (s *Server) editable(c *call) (*Chat, *record, *apiError) {
	chat, failure := s.writable(c)
	if failure != nil {
		return nil, nil, failure
	}
	id := int(c.number("message_id"))
	if id == 0 {
		return nil, nil, badRequest("message identifier is not specified")
	}
	r := chat.message(id)
	switch {
	case r == nil:
		return nil, nil, badRequest("message to edit not found")
	case !r.byBot:
		return nil, nil, badRequest("message can't be edited")
	}
	return chat, r, nil
}

// change makes a message what next is, unless it is that already. The caller holds
// mu.
func (s *Server) change(c *call, chat *Chat, r *record, next Message) (any, *apiError) {
	if failure := s.admit(c, chat, 1, true); failure != nil {
		return nil, failure
	}
	next.EditDate = r.now.EditDate
	if reflect.DeepEqual(next, r.now) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are exactly the same " +
			"as a current content and reply markup of the message")
	}
	now := s.clock.Now()
	next.EditDate = now.Unix()
	r.now = next
	r.remember(now)
	s.notify()
	return r.snapshot(), nil
}

// editMessageText makes a text another. The keyboard goes unless it is given again.
func (s *Server) editMessageText(c *call) (any, *apiError) {
	return s.editWords(c, "text", "entities", func(m *Message, f formatted) *apiError {
		switch {
		case f.text == "":
			return badRequest("message text is empty")
		case units(f.text) > maxText:
			return badRequest("MESSAGE_TOO_LONG")
		case m.hasMedia():
			return badRequest("there is no text in the message to edit")
		}
		m.Text, m.Entities = f.text, f.entities
		return nil
	})
}

// editMessageCaption makes a caption another.
func (s *Server) editMessageCaption(c *call) (any, *apiError) {
	return s.editWords(c, "caption", "caption_entities", func(m *Message, f formatted) *apiError {
		switch {
		case !m.hasMedia():
			return badRequest("there is no caption in the message to edit")
		case units(f.text) > maxCaption:
			return badRequest("message caption is too long")
		}
		m.Caption, m.CaptionEntities = f.text, f.entities
		return nil
	})
}

// editWords makes the text or the caption of a message another: put checks it and puts it in
// its place.
func (s *Server) editWords(c *call, name, entities string, put func(m *Message, f formatted) *apiError) (any, *apiError) {
	f, failure := s.readText(c, name, entities)
	if failure != nil {
		return nil, failure
	}
	keys, failure := keyboard(&c.params)
	if failure != nil {
		return nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, r, failure := s.editable(c)
	if failure != nil {
		return nil, failure
	}
	next := r.now
	if failure := put(&next, f); failure != nil {
		return nil, failure
	}
	next.ReplyMarkup = keys
	result, failure := s.change(c, chat, r, next)
	if failure == nil {
		r.mode, r.raw = c.values["parse_mode"], c.values[name]
	}
	return result, failure
}

// editMessageReplyMarkup gives a message another keyboard, or takes it away.
func (s *Server) editMessageReplyMarkup(c *call) (any, *apiError) {
	keys, failure := keyboard(&c.params)
	if failure != nil {
		return nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, r, failure := s.editable(c)
	if failure != nil {
		return nil, failure
	}
	next := r.now
	next.ReplyMarkup = keys
	return s.change(c, chat, r, next)
}

// deleteMessage takes a message away. Those of others only administrators can take
// away, and in private chats everybody can.
func (s *Server) deleteMessage(c *call) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, failure := s.writable(c)
	if failure != nil {
		return nil, failure
	}
	r := chat.message(int(c.number("message_id")))
	switch {
	case r == nil:
		return nil, badRequest("message to delete not found")
	case !r.byBot && !chat.admin && chat.Kind != KindPrivate:
		return nil, badRequest("message can't be deleted for everyone")
	}
	r.deleted = true
	s.notify()
	return true, nil
}
