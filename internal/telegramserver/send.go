package telegramserver

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The longest text and caption, in UTF-16 units.
const (
	maxText    = 4096
	maxCaption = 1024
)

// readText reads a text with its entities or its markup. The parameters are named
// text and entities, or caption and caption_entities.
func (s *Server) readText(c *call, name, entities string) (formatted, *apiError) {
	f := formatted{text: c.values[name]}
	var err error
	switch mode := strings.ToLower(c.values["parse_mode"]); mode {
	case "html":
		f, err = parseHTML(f.text)
	case "markdownv2":
		f, err = parseMarkdown(f.text)
	case "", "none":
		if raw := c.values[entities]; raw != "" {
			var failure *apiError
			if f.entities, failure = readEntities(f.text, raw); failure != nil {
				return f, s.refuse(c, failure)
			}
			if wrong := nesting(f.entities); wrong != "" {
				return f, s.refuse(c, strict(wrong))
			}
		}
	default:
		return f, badRequest("unsupported parse_mode")
	}
	if err != nil {
		return f, badRequest("can't parse entities: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if wrong := nesting(f.entities); wrong != "" {
		s.violate(ViolationNesting, c, wrong)
	}
	if n := len(f.entities); n > maxEntities {
		s.violate(ViolationEntities, c, strconv.Itoa(n))
		f.entities = f.entities[:maxEntities]
	}
	f = s.known(f.clean())
	f.entities = detect(f)
	return f, nil
}

// refuse keeps the violation behind a refusal that the real one would not make.
func (s *Server) refuse(c *call, failure *apiError) *apiError {
	if text, ok := strings.CutPrefix(failure.text, "Bad Request: strict: "); ok {
		s.mu.Lock()
		s.violate(ViolationRefused, c, text)
		s.mu.Unlock()
	}
	return failure
}

// known puts the users into mentions by id, and drops those of users that nobody
// knows, as the real one does. The caller holds mu.
func (s *Server) known(f formatted) formatted {
	f.entities = slices.DeleteFunc(f.entities, func(e Entity) bool {
		return e.Type == "text_mention" && s.users[e.User.ID] == nil && e.User.ID != s.bot.ID
	})
	for i, e := range f.entities {
		if e.Type != "text_mention" {
			continue
		}
		who := s.bot
		if u, ok := s.users[e.User.ID]; ok {
			who = *u
		}
		f.entities[i].User = &who
	}
	return f
}

// keyboard reads an inline keyboard.
func keyboard(p *params) (*Keyboard, *apiError) {
	if strings.TrimSpace(p.values["reply_markup"]) == "" {
		return nil, nil
	}
	var k Keyboard
	if err := p.object("reply_markup", &k); err != nil {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	for _, row := range k.Rows {
		for _, b := range row {
			switch {
			case !utf8.ValidString(b.Text) || strings.TrimSpace(b.Text) == "":
				return nil, badRequest("can't parse inline keyboard button: Field \"text\" must be non-empty")
			case b.CallbackData == "" && b.URL == "":
				return nil, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
			case len(b.CallbackData) > 64:
				return nil, badRequest("BUTTON_DATA_INVALID")
			case b.URL != "" && checkedLink(b.URL) == "":
				return nil, badRequest("BUTTON_URL_INVALID")
			}
		}
	}
	if len(k.Rows) == 0 {
		return nil, nil
	}
	return &k, nil
}

// place is where a message goes: which topic, in reply to what.
type place struct {
	thread  int
	inTopic bool
	replyTo *Message
}

// readPlace reads where in a chat a message goes. The caller holds mu.
func readPlace(c *call, chat *Chat) (place, *apiError) {
	var to place
	var reply struct {
		ID      int  `json:"message_id"`
		Without bool `json:"allow_sending_without_reply"`
	}
	if c.object("reply_parameters", &reply) != nil {
		return to, badRequest("can't parse reply parameters JSON object")
	}
	if reply.ID == 0 {
		reply.ID, reply.Without = int(c.number("reply_to_message_id")), c.flag("allow_sending_without_reply")
	}
	if reply.ID != 0 {
		r := chat.message(reply.ID)
		switch {
		case r != nil:
			to.replyTo, to.thread, to.inTopic = r.quoted(), r.now.ThreadID, r.now.IsTopicMessage
		case !reply.Without:
			return to, badRequest("message to be replied not found")
		}
	}
	if id := int(c.number("message_thread_id")); id != 0 {
		opened, ok := chat.topics[id]
		if !ok {
			return to, badRequest("message thread not found")
		}
		if opened.closed && !chat.admin {
			return to, badRequest("TOPIC_CLOSED")
		}
		to.thread, to.inTopic = id, true
	}
	return to, nil
}

// put puts a message of the bot into a chat. The caller holds mu.
func (s *Server) put(c *call, chat *Chat, to place) *record {
	r := s.newRecord(chat, &s.bot)
	r.method, r.mode = c.method, c.values["parse_mode"]
	r.now.ReplyTo, r.now.ThreadID, r.now.IsTopicMessage = to.replyTo, to.thread, to.inTopic
	return r
}

// sendMessage takes a text.
func (s *Server) sendMessage(c *call) (any, *apiError) {
	f, failure := s.readText(c, "text", "entities")
	if failure != nil {
		return nil, failure
	}
	keys, failure := keyboard(&c.params)
	if failure != nil {
		return nil, failure
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, failure := s.writable(c)
	switch {
	case failure != nil:
		return nil, failure
	case f.text == "":
		return nil, badRequest("message text is empty")
	case units(f.text) > maxText:
		return nil, badRequest("message is too long")
	}
	to, failure := readPlace(c, chat)
	if failure != nil {
		return nil, failure
	}
	if failure := s.admit(c, chat, 1, false); failure != nil {
		return nil, failure
	}
	r := s.put(c, chat, to)
	r.raw, r.now.Text, r.now.Entities, r.now.ReplyMarkup = c.values["text"], f.text, f.entities, keys
	r.remember(r.at)
	s.notify()
	return r.snapshot(), nil
}

// sendChatAction shows the bot typing, or the like.
func (s *Server) sendChatAction(c *call) (any, *apiError) {
	action := c.values["action"]
	if !slices.Contains([]string{
		"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
		"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note",
	}, action) {
		return nil, badRequest("wrong parameter action in request")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, failure := s.writable(c)
	if failure != nil {
		return nil, failure
	}
	to, failure := readPlace(c, chat)
	if failure != nil {
		return nil, failure
	}
	s.actions = append(s.actions, Action{Chat: chat.ID, Thread: to.thread, Action: action, At: s.clock.Now()})
	s.notify()
	return true, nil
}
