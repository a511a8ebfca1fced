package telegram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"
)

// maxQuote is how much is shown of a message that another one answers, in UTF-16 units.
const maxQuote = 500

// said gives what a message says, as text: what was written, or what else it is, and
// before it where it comes from and what it answers. A command for the bot is itself,
// without the bot's name.
func said(m *models.Message, me *models.User) string {
	if m.ForwardOrigin == nil {
		if text, ok := command(m, *me); ok {
			return text
		}
	}
	text, marks := wording(m)
	text = withAddresses(text, marks)
	if text == "" {
		text = described(m)
	}
	var notes []string
	if m.ForwardOrigin != nil {
		notes = append(notes, "(forwarded from "+origin(m.ForwardOrigin)+")")
	}
	if quote := quoted(m, me); quote != "" {
		notes = append(notes, quote)
	}
	if len(notes) > 0 && (text != "" || m.ForwardOrigin != nil && hasMedia(m)) {
		return strings.TrimSpace(strings.Join(append(notes, text), "\n"))
	}
	return text
}

// withAddresses puts the addresses of links behind their texts, which hide them.
func withAddresses(text string, marks []models.MessageEntity) string {
	marks = slices.Clone(marks)
	slices.SortStableFunc(marks, func(a, b models.MessageEntity) int { return cmp.Compare(b.Offset, a.Offset) })
	for _, e := range marks { // from the end, so that the offsets before hold
		if e.Type != models.MessageEntityTypeTextLink || e.URL == "" {
			continue
		}
		if end, ok := endOf(text, e); ok && !strings.HasSuffix(text[:end], e.URL) {
			text = text[:end] + " (" + e.URL + ")" + text[end:]
		}
	}
	return text
}

// endOf gives the first byte after an entity.
func endOf(text string, e models.MessageEntity) (int, bool) {
	if e.Offset < 0 || e.Length <= 0 {
		return 0, false
	}
	whole, ok := covered(text, models.MessageEntity{Offset: 0, Length: e.Offset + e.Length})
	return len(whole), ok
}

// described says what a message without words is; empty: there is nothing to it but
// media, or nobody said it.
func described(m *models.Message) string {
	switch {
	case m.Sticker != nil:
		return strings.TrimSpace("(a sticker: "+m.Sticker.Emoji) + ")"
	case m.Venue != nil:
		return fmt.Sprintf("(a place: %s, %s; %g, %g)", m.Venue.Title, m.Venue.Address, m.Venue.Location.Latitude, m.Venue.Location.Longitude)
	case m.Location != nil:
		return fmt.Sprintf("(a place: %g, %g)", m.Location.Latitude, m.Location.Longitude)
	case m.Contact != nil:
		return fmt.Sprintf("(a contact: %s, %s)", strings.TrimSpace(m.Contact.FirstName+" "+m.Contact.LastName), m.Contact.PhoneNumber)
	case m.Poll != nil:
		var options []string
		for i := range m.Poll.Options {
			options = append(options, m.Poll.Options[i].Text)
		}
		return fmt.Sprintf("(a poll: %s; %s)", m.Poll.Question, strings.Join(options, ", "))
	case m.Dice != nil:
		return fmt.Sprintf("(%s shows %d)", m.Dice.Emoji, m.Dice.Value)
	case m.Story != nil:
		return "(a story, which bots cannot see)"
	}
	return ""
}

// origin names who wrote a forwarded message.
func origin(o *models.MessageOrigin) string {
	switch {
	case o.MessageOriginUser != nil:
		return fullName(&o.MessageOriginUser.SenderUser)
	case o.MessageOriginHiddenUser != nil:
		return o.MessageOriginHiddenUser.SenderUserName
	case o.MessageOriginChat != nil:
		return o.MessageOriginChat.SenderChat.Title
	case o.MessageOriginChannel != nil:
		return o.MessageOriginChannel.Chat.Title
	}
	return "somebody"
}

// quoted says what a message answers, unless the bot knows: what it wrote itself, and
// has not been cited in part, stands in the conversation.
func quoted(m *models.Message, me *models.User) string {
	to := m.ReplyToMessage
	if m.Quote != nil && m.Quote.IsManual {
		return fmt.Sprintf("(about this: %q)", shorten(m.Quote.Text, maxQuote))
	}
	if to == nil || to.ForumTopicCreated != nil || to.From != nil && to.From.ID == me.ID {
		return ""
	}
	text, _ := wording(to)
	if text == "" {
		text = described(to)
	}
	who, ok := senderOf(to)
	if text == "" || !ok {
		return ""
	}
	return fmt.Sprintf("(in reply to %s: %q)", cmp.Or(who.Name, "somebody"), shorten(text, maxQuote))
}
