package telegram

import (
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/parley-run/parley/channel"
)

// entityTypes are what Telegram calls the kinds of spans.
var entityTypes = map[channel.Kind]models.MessageEntityType{
	channel.Bold:      models.MessageEntityTypeBold,
	channel.Italic:    models.MessageEntityTypeItalic,
	channel.Underline: models.MessageEntityTypeUnderline,
	channel.Strike:    models.MessageEntityTypeStrikethrough,
	channel.Spoiler:   models.MessageEntityTypeSpoiler,
	channel.Code:      models.MessageEntityTypeCode,
	channel.Pre:       models.MessageEntityTypePre,
	channel.Link:      models.MessageEntityTypeTextLink,
	channel.Quote:     models.MessageEntityTypeBlockquote,
}

// entities gives the text and how it looks as Telegram takes it. There is nothing to
// escape in it.
func entities(r channel.Rich) (text string, list []models.MessageEntity) {
	r = r.Tidy()
	count := counter{text: r.Text}
	starts := make([]int, len(r.Spans)) // they are in order of their beginning
	for i, s := range r.Spans {
		starts[i] = count.upTo(s.Start)
	}
	for i, s := range r.Spans {
		list = append(list, models.MessageEntity{
			Type:     entityTypes[s.Kind],
			Offset:   starts[i],
			Length:   channel.UTF16.Count(r.Text[s.Start:s.End]),
			URL:      s.URL,
			Language: s.Language,
		})
	}
	return r.Text, list
}

// counter counts the UTF-16 code units of a text, onwards from where it was.
type counter struct {
	text         string
	bytes, units int
}

func (c *counter) upTo(offset int) int {
	c.units += channel.UTF16.Count(c.text[c.bytes:offset])
	c.bytes = offset
	return c.units
}

// covered gives the text that an entity of a message is about; ok is false if it lies
// outside, or cuts a character.
func covered(text string, e models.MessageEntity) (part string, ok bool) {
	if e.Offset < 0 || e.Length <= 0 {
		return "", false
	}
	start, end, units := -1, -1, 0
	for i, c := range text {
		if units == e.Offset {
			start = i
		}
		if units-e.Offset == e.Length {
			end = i
			break
		}
		units += utf16.RuneLen(c)
	}
	if end < 0 && units-e.Offset == e.Length {
		end = len(text)
	}
	if start < 0 || end < 0 {
		return "", false
	}
	return text[start:end], true
}
