package telegramserver

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// markNames are the entities of MarkdownV2 as its errors call them.
var markNames = map[string]string{
	"bold": "Bold", "italic": "Italic", "underline": "Underline", "strikethrough": "Strikethrough", "spoiler": "Spoiler",
	"code": "Code", "pre": "Pre", "text_link": "TextUrl", "custom_emoji": "CustomEmoji", "blockquote": "BlockQuote",
}

// mark is a stretch of MarkdownV2 whose end was not seen yet.
type mark struct {
	kind     string
	language string
	offset   int // in UTF-16 units
	start    int // in bytes of the text
	source   int // in bytes of the source
}

// markParser reads MarkdownV2.
type markParser struct {
	src   string
	at    int
	text  strings.Builder
	size  int // of text in UTF-16 units
	open  []mark
	quote bool // a quote is open
	out   []Entity
}

// parseMarkdown reads a text in MarkdownV2. The error is what the real one says
// after "can't parse entities: ".
func parseMarkdown(src string) (formatted, error) {
	p := &markParser{src: src}
	for p.at < len(src) {
		if err := p.step(); err != nil {
			return formatted{}, err
		}
	}
	if p.quote {
		p.endQuote()
	}
	if len(p.open) > 0 {
		return formatted{}, p.unclosed()
	}
	sortEntities(p.out)
	return formatted{p.text.String(), p.out}, nil
}

// step takes what comes next.
func (p *markParser) step() error {
	c, top := p.src[p.at], p.top()
	switch {
	case c == '\\' && p.escapes():
		p.at++
		p.character()
		return nil
	case isCode(top) && c != '`', !strings.ContainsRune("_*[]()~`>#+-=|{}.!\n", rune(c)):
		p.character()
		return nil
	case c == '\n':
		return p.newline()
	case p.ends(c, top):
		return p.end()
	default:
		return p.begin(c)
	}
}

// top gives the kind of the innermost open entity.
func (p *markParser) top() string {
	if len(p.open) == 0 {
		return ""
	}
	return p.open[len(p.open)-1].kind
}

// escapes reports whether the backslash here has something to escape.
func (p *markParser) escapes() bool {
	return p.at+1 < len(p.src) && p.src[p.at+1] > 0 && p.src[p.at+1] <= 126
}

// next reports whether the source goes on with a text.
func (p *markParser) next(text string) bool { return strings.HasPrefix(p.src[p.at:], text) }

// character takes one character as it is.
func (p *markParser) character() {
	r, size := utf8.DecodeRuneInString(p.src[p.at:])
	p.text.WriteString(p.src[p.at : p.at+size])
	p.size += runeUnits(r)
	p.at += size
}

// newline ends a quote that does not go on in the next line.
func (p *markParser) newline() error {
	goesOn := strings.HasPrefix(p.src[p.at+1:], ">")
	if !p.quote {
		p.character()
		return nil
	}
	if goesOn {
		p.character()
		p.at++
		return nil
	}
	expandable := p.dropMark()
	if p.top() != "blockquote" {
		return p.unclosed()
	}
	p.character()
	p.closeQuote(expandable)
	return nil
}

// dropMark takes away the two bars at the end of a quote, which make it expandable,
// and reports whether they were there.
func (p *markParser) dropMark() bool {
	n := len(p.open)
	if n < 2 || p.open[n-1].kind != "spoiler" || p.open[n-2].kind != "blockquote" {
		return false
	}
	if since := p.text.String()[p.open[n-1].start:]; since != "" && since != "\r" {
		return false
	}
	p.open = p.open[:n-1]
	return true
}

// endQuote ends a quote with the text, if nothing else is open in it.
func (p *markParser) endQuote() {
	if expandable := p.dropMark(); p.top() == "blockquote" {
		p.closeQuote(expandable)
	}
}

func (p *markParser) closeQuote(expandable bool) {
	kind := "blockquote"
	if expandable {
		kind = "expandable_blockquote"
	}
	m := p.pop()
	p.quote = false
	p.add(Entity{Type: kind, Offset: m.offset, Length: p.size - m.offset})
}

// ends reports whether the innermost entity ends here.
func (p *markParser) ends(c byte, top string) bool {
	switch top {
	case "bold":
		return c == '*'
	case "italic":
		return c == '_' && !p.next("__")
	case "underline":
		return p.next("__")
	case "strikethrough":
		return c == '~'
	case "spoiler":
		return p.next("||")
	case "code":
		return true // nothing but a backtick comes here
	case "pre":
		return p.next("```")
	case "text_link", "custom_emoji":
		return c == ']'
	default:
		return false
	}
}

// begin starts an entity.
func (p *markParser) begin(c byte) error {
	m := mark{offset: p.size, start: p.text.Len(), source: p.at}
	width := 1
	switch {
	case p.next("__"):
		m.kind, width = "underline", 2
	case c == '_':
		m.kind = "italic"
	case c == '*':
		m.kind = "bold"
	case c == '~':
		m.kind = "strikethrough"
	case p.next("||"):
		m.kind, width = "spoiler", 2
	case c == '[':
		m.kind = "text_link"
	case p.next("!["):
		m.kind, width = "custom_emoji", 2
	case p.next("```"):
		m.kind = "pre"
		m.language, width = fence(p.src[p.at+3:])
		width += 3
	case c == '`':
		m.kind = "code"
	case c == '>' && !p.quote && p.lineStart():
		m.kind = "blockquote"
		p.quote = true
	default:
		return wrong("Character '%c' is reserved and must be escaped with the preceding '\\'", c)
	}
	p.at += width
	p.open = append(p.open, m)
	return nil
}

// lineStart reports whether nothing of the line was seen yet.
func (p *markParser) lineStart() bool {
	text := p.text.String()
	return text == "" || strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\r")
}

// fence gives the language after three backticks, and how many bytes it takes with
// one line's end after it.
func fence(rest string) (language string, width int) {
	end := 0
	for end < len(rest) && !isBlank(rest[end]) && rest[end] != '`' && rest[end] != 0 {
		end++
	}
	if end > 0 && end < len(rest) && rest[end] != '`' {
		language, width = rest[:end], end
	}
	rest = rest[width:]
	switch {
	case strings.HasPrefix(rest, "\r\n"), strings.HasPrefix(rest, "\n\r"):
		width += 2
	case strings.HasPrefix(rest, "\n"), strings.HasPrefix(rest, "\r"):
		width++
	}
	return language, width
}

// end ends the innermost entity.
func (p *markParser) end() error {
	m := p.open[len(p.open)-1]
	e := Entity{Type: m.kind, Offset: m.offset, Length: p.size - m.offset, Language: m.language}
	p.at++
	switch m.kind {
	case "underline", "spoiler":
		p.at++
	case "pre":
		p.at += 2
	case "text_link":
		link := p.text.String()[m.start:]
		if p.next("(") {
			given, err := p.target("a URL")
			if err != nil {
				return err
			}
			link = given
		}
		found, ok := linkEntity(link, e.Offset, e.Length)
		if !ok {
			p.pop()
			return nil
		}
		e = found
	case "custom_emoji":
		if !p.next("(") {
			return wrong("Custom emoji entity must contain a tg://emoji URL")
		}
		link, err := p.target("a custom emoji URL")
		if err != nil {
			return err
		}
		if e.CustomEmojiID, err = emojiOf(link); err != nil {
			return err
		}
	}
	p.pop()
	p.add(e)
	return nil
}

// target takes the part in parentheses that follows a link's text.
func (p *markParser) target(what string) (string, error) {
	p.at++
	begin := p.at
	var link strings.Builder
	for p.at < len(p.src) && p.src[p.at] != ')' {
		if p.src[p.at] == '\\' && p.escapes() {
			p.at++
		}
		link.WriteByte(p.src[p.at])
		p.at++
	}
	if p.at == len(p.src) {
		return "", wrong("Can't find end of %s at byte offset %d", what, begin)
	}
	p.at++
	return link.String(), nil
}

// emojiOf gives the id in the link of a custom emoji.
func emojiOf(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || !strings.EqualFold(u.Scheme, "tg") {
		return "", wrong("Custom emoji URL must have scheme tg")
	}
	host := u.Host
	if u.Opaque != "" {
		host = u.Opaque
	}
	if !strings.EqualFold(host, "emoji") {
		return "", wrong("Custom emoji URL must have host \"emoji\"")
	}
	id := u.Query().Get("id")
	if id == "" {
		return "", wrong("Custom emoji URL must have an emoji identifier")
	}
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n == 0 || strconv.FormatInt(n, 10) != id {
		return "", wrong("Invalid custom emoji identifier specified")
	}
	return id, nil
}

func (p *markParser) pop() mark {
	m := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	return m
}

// add keeps an entity, unless it is empty.
func (p *markParser) add(e Entity) {
	if e.Length > 0 {
		p.out = append(p.out, e)
	}
}

// unclosed says what is open still.
func (p *markParser) unclosed() error {
	m := p.open[len(p.open)-1]
	name := markNames[m.kind]
	if m.language != "" {
		name = "PreCode"
	}
	return wrong("Can't find end of %s entity at byte offset %d", name, m.source)
}
