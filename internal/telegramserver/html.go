package telegramserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlTags are the tags that the HTML mode knows, and the entities they make.
var htmlTags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough",
	"span": "spoiler", "tg-spoiler": "spoiler", "tg-emoji": "custom_emoji",
	"a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}

// wrong is an error in the API's words, which start with a capital.
func wrong(format string, args ...any) error { return parseError(fmt.Sprintf(format, args...)) }

type parseError string

func (e parseError) Error() string { return string(e) }

// htmlTag is a start tag whose end was not seen yet.
type htmlTag struct {
	name, argument string
	offset         int // in UTF-16 units
	start          int // in bytes of the text
}

// htmlParser reads the HTML mode.
type htmlParser struct {
	src  string
	at   int
	text strings.Builder
	size int // of text in UTF-16 units
	open []htmlTag
	out  []Entity
}

// parseHTML reads a text in HTML mode. The error is what the real one says after
// "can't parse entities: ".
func parseHTML(src string) (formatted, error) {
	p := &htmlParser{src: src}
	for p.at < len(src) {
		switch {
		case src[p.at] == '&':
			p.reference()
		case src[p.at] != '<':
			p.character()
		case strings.HasPrefix(src[p.at:], "</"):
			if err := p.end(); err != nil {
				return formatted{}, err
			}
		default:
			if err := p.begin(); err != nil {
				return formatted{}, err
			}
		}
	}
	if len(p.open) > 0 {
		return formatted{}, wrong("Can't find end tag corresponding to start tag %q", p.open[len(p.open)-1].name)
	}
	if !utf8.ValidString(p.text.String()) {
		return formatted{}, wrong("Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units")
	}
	for i := range p.out {
		if p.out[i].Type == "code" {
			p.out[i].Language = ""
		}
	}
	sortEntities(p.out)
	return formatted{p.text.String(), p.out}, nil
}

// character takes one character as it is.
func (p *htmlParser) character() {
	r, size := utf8.DecodeRuneInString(p.src[p.at:])
	p.text.WriteString(p.src[p.at : p.at+size])
	p.size += runeUnits(r)
	p.at += size
}

// reference takes a character reference, or the ampersand if it is none.
func (p *htmlParser) reference() {
	decoded, size := decodeReference(p.src[p.at:])
	if size == 0 {
		p.character()
		return
	}
	p.text.WriteString(decoded)
	p.size += units(decoded)
	p.at += size
}

// decodeReference decodes the reference that a text starts with. Its size is 0 if
// it starts with none. Half of a surrogate pair becomes a byte that is no text.
func decodeReference(text string) (decoded string, size int) {
	rest := text[1:]
	if number, ok := strings.CutPrefix(rest, "#"); ok {
		base, lead, digits := 10, 2, "0123456789"
		if hexadecimal, ok := strings.CutPrefix(number, "x"); ok {
			base, lead, number, digits = 16, 3, hexadecimal, "0123456789abcdefABCDEF"
		}
		end := len(number) - len(strings.TrimLeft(number, digits))
		code, err := strconv.ParseInt(number[:end], base, 32)
		if err != nil || code == 0 || code >= utf8.MaxRune || lead+end >= 10 {
			return "", 0
		}
		decoded, size = string(rune(code)), lead+end
		if code >= 0xD800 && code <= 0xDFFF {
			decoded = "\xed"
		}
	} else {
		end := 0
		for end < len(rest) && isLetter(rest[end]) {
			end++
		}
		decoded = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`}[rest[:end]]
		if decoded == "" {
			return "", 0
		}
		size = 1 + end
	}
	if strings.HasPrefix(text[size:], ";") {
		size++
	}
	return decoded, size
}

// begin takes a start tag.
func (p *htmlParser) begin() error {
	start := p.at
	p.at++
	name := strings.ToLower(p.until(" \t\r\n\v\f>"))
	if p.at == len(p.src) {
		return wrong("Unclosed start tag at byte offset %d", start)
	}
	if _, known := htmlTags[name]; !known {
		return wrong("Unsupported start tag \"%s\" at byte offset %d", name, start)
	}
	tag := htmlTag{name: name, offset: p.size, start: p.text.Len()}
	for {
		p.space()
		if p.at == len(p.src) {
			return wrong("Unclosed start tag at byte offset %d", start)
		}
		if p.src[p.at] == '>' {
			p.at++
			break
		}
		attribute, value, err := p.attribute(name, start)
		if err != nil {
			return err
		}
		tag.take(attribute, value)
	}
	if name == "span" && tag.argument != "spoiler" {
		return wrong("Tag \"span\" must have class \"tg-spoiler\" at byte offset %d", start)
	}
	p.open = append(p.open, tag)
	return nil
}

// take keeps the value of an attribute that matters.
func (t *htmlTag) take(attribute, value string) {
	switch {
	case t.name == "a" && attribute == "href", t.name == "tg-emoji" && attribute == "emoji-id":
		t.argument = value
	case t.name == "code" && attribute == "class" && strings.HasPrefix(value, "language-"):
		t.argument = strings.TrimPrefix(value, "language-")
	case t.name == "span" && attribute == "class" && strings.HasPrefix(value, "tg-"):
		t.argument = strings.TrimPrefix(value, "tg-")
	case t.name == "blockquote" && attribute == "expandable":
		t.argument = "1"
	}
}

// attribute takes an attribute of a start tag.
func (p *htmlParser) attribute(tag string, start int) (name, value string, err error) {
	name = p.until(" \t\r\n\v\f=>")
	if name == "" {
		return "", "", wrong("Empty attribute name in the tag %q at byte offset %d", tag, start)
	}
	p.space()
	if p.at == len(p.src) || p.src[p.at] != '=' {
		return name, "", nil
	}
	p.at++
	p.space()
	if p.at == len(p.src) {
		return "", "", wrong("Unclosed start tag %q at byte offset %d", tag, start)
	}
	if quote := p.src[p.at]; quote == '"' || quote == '\'' {
		value = p.literal(quote)
		if p.at == len(p.src) {
			return "", "", wrong("Unclosed start tag at byte offset %d", start)
		}
		return name, value, nil
	}
	begin := p.at
	for p.at < len(p.src) && (isLetter(p.src[p.at]) || isDigit(p.src[p.at]) || p.src[p.at] == '.' || p.src[p.at] == '-') {
		p.at++
	}
	if p.at == len(p.src) || !isBlank(p.src[p.at]) && p.src[p.at] != '>' {
		return "", "", wrong("Unexpected end of name token at byte offset %d", begin)
	}
	return name, strings.ToLower(p.src[begin:p.at]), nil
}

// literal takes a quoted value.
func (p *htmlParser) literal(quote byte) string {
	var value strings.Builder
	for p.at++; p.at < len(p.src) && p.src[p.at] != quote; {
		if p.src[p.at] == '&' {
			if decoded, size := decodeReference(p.src[p.at:]); size > 0 {
				value.WriteString(decoded)
				p.at += size
				continue
			}
		}
		value.WriteByte(p.src[p.at])
		p.at++
	}
	p.at = min(p.at+1, len(p.src))
	return value.String()
}

// end takes an end tag.
func (p *htmlParser) end() error {
	start := p.at
	if len(p.open) == 0 {
		return wrong("Unexpected end tag at byte offset %d", start)
	}
	p.at += 2
	name := strings.ToLower(p.until(" \t\r\n\v\f>"))
	p.space()
	if p.at == len(p.src) || p.src[p.at] != '>' {
		return wrong("Unclosed end tag at byte offset %d", start)
	}
	p.at++
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return wrong("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", start, tag.name, name)
	}
	p.open = slices.Delete(p.open, len(p.open)-1, len(p.open))
	if p.size == tag.offset {
		return nil
	}
	return p.close(tag)
}

// close makes the entity of a tag that ended.
func (p *htmlParser) close(tag htmlTag) error {
	e := Entity{Type: htmlTags[tag.name], Offset: tag.offset, Length: p.size - tag.offset}
	var inner *Entity // the entity over the same stretch that ended just before
	if n := len(p.out); n > 0 && p.out[n-1].Offset == e.Offset && p.out[n-1].Length == e.Length {
		inner = &p.out[n-1]
	}
	switch tag.name {
	case "a":
		link := tag.argument
		if link == "" {
			link = p.text.String()[tag.start:]
		}
		found, ok := linkEntity(link, e.Offset, e.Length)
		if !ok {
			return nil
		}
		e = found
	case "tg-emoji":
		if id, err := strconv.ParseInt(tag.argument, 10, 64); err != nil || id == 0 {
			return wrong("Invalid custom emoji identifier specified")
		}
		e.CustomEmojiID = tag.argument
	case "blockquote":
		if tag.argument != "" {
			e.Type = "expandable_blockquote"
		}
	case "pre":
		if inner != nil && inner.Type == "code" && inner.Language != "" {
			inner.Type = "pre"
			return nil
		}
	case "code":
		if inner != nil && inner.Type == "pre" && inner.Language == "" && tag.argument != "" {
			inner.Language = tag.argument
			return nil
		}
		e.Language = tag.argument
	}
	p.out = append(p.out, e)
	return nil
}

// until takes what is before any of the given bytes, or the rest.
func (p *htmlParser) until(stop string) string {
	begin := p.at
	if n := strings.IndexAny(p.src[begin:], stop); n >= 0 {
		p.at += n
	} else {
		p.at = len(p.src)
	}
	return p.src[begin:p.at]
}

func (p *htmlParser) space() {
	for p.at < len(p.src) && isBlank(p.src[p.at]) {
		p.at++
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isBlank(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
