package route

import "strings"

// pattern is what a space or chat has to be: a type and an id, or an id alone.
// The zero value is anything.
type pattern struct {
	whole    string // what was written, in case it is an id with a colon in it
	typ, id  string
	whatsApp string // the id of a direct chat of WhatsApp, if it may be one
}

// newPattern reads <type>:<id>.
func newPattern(s string) pattern {
	p := pattern{whole: text(s)}
	if typ, id, ok := strings.Cut(p.whole, ":"); ok {
		p.typ, p.id = typeName(typ, ""), strings.TrimSpace(id)
	}
	switch {
	case p.typ == typeDirect:
		p.whatsApp = whatsAppOf(p.id)
	case !strings.HasSuffix(p.whole, "@g.us"): // that is a group
		p.whatsApp = whatsAppOf(p.whole)
	}
	return p
}

func (p pattern) matches(channel, typ, id string) bool {
	if p.whole == "" {
		return true
	}
	return id != "" && (p.whole == id || p.typ == typ && p.id == id ||
		channel == channelWhatsApp && typ == typeDirect && p.whatsApp == id)
}

// covers reports whether p matches whatever q matches on a channel; an empty one
// is any.
func (p pattern) covers(q pattern, channel string) bool {
	switch {
	case p.whole == "", p.whole == q.whole:
		return true
	case q.typ == "":
		return false
	case p.typ == "" && p.whole == q.id, p.typ == q.typ && p.id == q.id:
		return true
	}
	return channel == channelWhatsApp && q.typ == typeDirect && p.whatsApp != "" && p.whatsApp == q.whatsApp
}

// whatsAppOf gives the part of an id that WhatsApp ids are compared by, with the
// channel before it or without; or nothing, if it is an id of something else.
func whatsAppOf(id string) string {
	id = strings.TrimSpace(strings.TrimPrefix(id, channelWhatsApp+":"))
	number, _, ok := strings.Cut(id, ":")
	if ok && strings.Trim(number, "+0123456789") != "" {
		return ""
	}
	return whatsApp(id)
}
