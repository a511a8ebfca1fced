package channel

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-run/parley"
)

// What stands before a message that may be in its chat already, and where that is too
// long for the platform.
const (
	sentAgain      = "↻ Sent again, as it may not have arrived:\n\n"
	sentAgainShort = "↻ "
)

// againMark gives what stands before a message that may be there already, and the
// room that messages leave for it.
func (o *office) againMark() (mark string, room int) {
	mark = sentAgain
	room = o.can.Units.Count(mark)
	if o.can.MaxUnits > 0 && o.can.MaxUnits < 8*room {
		mark = sentAgainShort
		room = o.can.Units.Count(mark)
	}
	return mark, room
}

// split makes the messages that a text is sent as. None: there is nothing to see.
func (o *office) split(markdown string) []Rich {
	whole := Markdown(markdown)
	if whole.Blank() {
		return nil
	}
	if o.can.MaxUnits <= 0 {
		return []Rich{whole}
	}
	_, room := o.againMark()
	return whole.Split(max(1, o.can.MaxUnits-room), o.can.Units)
}

// outgoing is a delivery as the platform is given it.
func (o *office) outgoing(d *parley.Delivery) (Outgoing, error) {
	m := Outgoing{Key: string(d.ID), Target: d.Target}
	if len(d.Media) > 0 {
		m.Media = &Medium{Type: d.Media[0].Type, Name: d.Media[0].Name, Size: d.Media[0].Size}
	}
	switch {
	case d.Text == "" && m.Media != nil:
	case d.Text == "":
		m.Text = Plain(textRemoved)
	case d.Markup == "": // a question
		m.Text = Markdown(d.Text)
		if o.can.MaxUnits > 0 {
			_, room := o.againMark()
			m.Text = m.Text.Split(max(1, o.can.MaxUnits-room), o.can.Units)[0]
		}
	default:
		m.Text.Text = d.Text
		if err := json.Unmarshal([]byte(d.Markup), &m.Text.Spans); err != nil {
			return m, fmt.Errorf("read how delivery %s looks: %w", d.ID, err)
		}
	}
	if o.can.Buttons {
		m.Buttons = buttonsOf(d)
	}
	if d.Again && d.PlatformID == "" {
		mark, _ := o.againMark()
		if m.Text.Text == "" {
			mark = strings.TrimRight(mark, ":\n ")
		}
		m.Text = behind(mark, m.Text)
	}
	return m, nil
}

// behind puts a text behind a mark.
func behind(mark string, r Rich) Rich {
	moved := Rich{Text: mark + r.Text, Spans: make([]Span, len(r.Spans))}
	for i, s := range r.Spans {
		s.Start += len(mark)
		s.End += len(mark)
		moved.Spans[i] = s
	}
	return moved
}

// markupOf writes down how a message looks.
func markupOf(r Rich) string {
	if len(r.Spans) == 0 {
		return "[]"
	}
	// Strings and numbers cannot fail to encode.
	data, _ := json.Marshal(r.Spans)
	return string(data)
}

// piece is one message of a reply: a text, a medium, or a medium with its caption.
type piece struct {
	text  Rich
	media []parley.Media
}

// pieces makes the messages that a delivery is sent as: its text, then its media. A text
// that fits beside the first medium becomes its caption, if the chat does not show the text
// already, or may.
func (o *office) pieces(d *parley.Delivery, mayShow bool) (list []piece) {
	texts := o.split(d.Text)
	mayShow = mayShow || d.Again || d.PlatformID != ""
	if len(texts) == 0 && (d.PlatformID != "" || mayShow && len(d.Media) > 0) {
		texts = []Rich{Plain("…")}
	}
	for _, text := range texts {
		list = append(list, piece{text: text})
	}
	_, room := o.againMark()
	for i := range d.Media {
		one := d.Media[i : i+1 : i+1]
		if i == 0 && len(texts) == 1 && !mayShow && o.can.Units.Count(texts[0].Text)+room <= o.can.MaxCaption {
			list[0].media = one
		} else {
			list = append(list, piece{media: one})
		}
	}
	return list
}

// divide makes the parts of a delivery that was not split yet: a change of its row, and
// rows for what follows. MayShow says that the chat may show its text. Nil: there is
// nothing to see in it.
func (o *office) divide(d *parley.Delivery, mayShow bool) []parley.DeliveryChange {
	parts := o.pieces(d, mayShow)
	if len(parts) == 0 {
		return nil
	}
	d.Text, d.Markup, d.Media = parts[0].text.Text, markupOf(parts[0].text), parts[0].media
	list := []parley.DeliveryChange{{ID: d.ID, Text: new(d.Text), Markup: new(d.Markup), Media: new(d.Media)}}
	for i, p := range parts[1:] {
		to := d.Target
		to.ReplyTo = ""
		list = append(list, parley.DeliveryChange{New: &parley.Delivery{
			ID: parley.DeliveryID(fmt.Sprintf("%s.%d", d.ID, i+1)), Turn: d.Turn, Kind: d.Kind, Seq: d.Seq, Target: to,
			Of: d.ID, Part: i + 1, Text: p.text.Text, Markup: markupOf(p.text), Media: p.media, State: parley.DeliveryPending,
		}})
	}
	return list
}
