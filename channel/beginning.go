package channel

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Beginning converts the first part of what a model is still writing, so that it looks
// like the beginning of the whole: what is open is closed at its end, and what could
// still become something else is held back until it has. Half a link is its text.
func Beginning(source string) Rich {
	source = settled(source)
	if blank(source) {
		return Rich{}
	}
	return Markdown(source)
}

// maxOpen is how long a block is in which open marks are looked for.
const maxOpen = 8 << 10

var (
	// undecided lines may become a list item, a heading, a fence, a rule, the line below
	// a heading or a table's head.
	undecided  = regexp.MustCompile(`^[\s>]*(?:\d{1,9}[.)]?|#{1,6}|[-*+_=~` + "`" + `|:>\s]*|[-*+]\s+\[[ xX]?\]?|\$\$?)\s*$`)
	fence      = regexp.MustCompile("^[\\s>]*(?:[-*+]\\s+|\\d{1,9}[.)]\\s+)*(```+|~~~+)(.*)$")
	halfEntity = regexp.MustCompile(`^&#?[0-9A-Za-z]{0,31}$`)
	// A line that begins a block of its own.
	blockStart = regexp.MustCompile(`^[\s>]*(?:[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|>|$)`)
)

// settled gives Markdown for what is certain of an unfinished one.
func settled(source string) string {
	source = clean(source)
	start := strings.LastIndexByte(source, '\n') + 1
	before, last := source[:start], source[start:]
	if open := openFence(before); open != "" {
		if mark := strings.TrimLeft(last, " \t>"); mark != "" && strings.Trim(mark, open[:1]) == "" {
			return before // perhaps its end
		}
		return source
	}
	if m := fence.FindStringSubmatch(last); m != nil {
		return before // its language may be half written
	}
	if undecided.MatchString(last) {
		source = before
	}
	if head := tableHead(source); head >= 0 {
		return source[:head]
	}
	start = lastBlock(source)
	if len(source)-start > maxOpen {
		return source
	}
	return source[:start] + closed(source[start:])
}

// openFence gives the fence of the code that a text ends in; "" if it does not.
func openFence(text string) string {
	open := ""
	for line := range strings.Lines(text) {
		open = fenceAfter(open, strings.TrimRight(line, "\n"))
	}
	return open
}

// fenceAfter gives the fence that is open behind a line, given the one before it.
func fenceAfter(open, line string) string {
	m := fence.FindStringSubmatch(line)
	switch {
	case m == nil:
	case open == "" && (m[1][0] == '~' || !strings.Contains(m[2], "`")):
		return m[1]
	case open != "" && strings.HasPrefix(m[1], open) && strings.TrimSpace(m[2]) == "":
		return ""
	}
	return open
}

// tableHead gives where a line begins that may be the head of a table whose next line is
// not there yet; -1 if there is none.
func tableHead(source string) int {
	text := strings.TrimRight(source, "\n")
	if strings.HasSuffix(source, "\n\n") {
		return -1
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if !strings.HasPrefix(strings.TrimLeft(text[start:], " >"), "|") {
		return -1
	}
	if previous := strings.TrimRight(text[:start], "\n"); start-len(previous) == 1 && strings.HasPrefix(strings.TrimLeft(previous[strings.LastIndexByte(previous, '\n')+1:], " >"), "|") {
		return -1 // a row of one that has begun
	}
	return start
}

// lastBlock gives where the last block begins: inline marks reach no further.
func lastBlock(source string) int {
	end := len(strings.TrimRight(source, "\n"))
	if strings.HasSuffix(source, "\n\n") {
		return len(source)
	}
	for end > 0 {
		start := strings.LastIndexByte(source[:end], '\n') + 1
		line := source[start:end]
		if strings.TrimSpace(line) == "" {
			return end
		}
		if m := blockStart.FindString(line); m != "" {
			return start + len(m)
		}
		end = max(0, start-1)
	}
	return 0
}

// closed closes what is open at the end of a block.
func closed(block string) string {
	var open []opener
	for i := 0; i < len(block); {
		c := block[i]
		switch {
		case c == '\\' && i+1 == len(block):
			return closing(block[:i], open)
		case c == '\\':
			i += 2
		case c == '`':
			n := run(block[i:])
			end := codeEnd(block[i+n:], n)
			if end < 0 {
				if strings.TrimSpace(block[i+n:]) == "" {
					return closing(block[:i], open)
				}
				return closing(strings.TrimRight(block, "`")+block[i:i+n], open)
			}
			i += n + end
		case c == '*' || c == '_' || c == '~':
			n := run(block[i:])
			open = delimiters(block, i, n, open)
			i += n
		case c == '[':
			text, length := halfLink(block[i:])
			if length == 0 {
				i += text
				continue
			}
			// What comes behind the bracket is looked at again, without it.
			image := i > 0 && block[i-1] == '!'
			head := block[:i]
			if image {
				head = head[:i-1]
			}
			block = head + block[i+1:i+1+text]
			i = len(head)
		case (c == '<' || c == '!') && i+1 == len(block), c == '&' && halfEntity.MatchString(block[i:]):
			return closing(block[:i], open)
		default:
			_, size := utf8.DecodeRuneInString(block[i:])
			i += size
		}
	}
	return closing(block, open)
}

// opener is a mark that waits for its other half.
type opener struct {
	mark string
	at   int
}

// run gives how often the first byte is repeated.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

// codeEnd gives where code with so many backticks ends, behind them.
func codeEnd(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		got := run(s[i:])
		if got == n {
			return i + n
		}
		i += got
	}
	return -1
}

// delimiters takes a run of emphasis marks: it closes what it can, and opens if a word
// begins behind it and none ends before it.
func delimiters(block string, at, n int, open []opener) []opener {
	before, _ := utf8.DecodeLastRuneInString(block[:at])
	after, _ := utf8.DecodeRuneInString(block[at+n:])
	c := block[at : at+1]
	end := at+n == len(block)
	if !unicode.IsSpace(before) && at > 0 {
		for len(open) > 0 && n > 0 && open[len(open)-1].mark[:1] == c && len(open[len(open)-1].mark) <= n {
			n -= len(open[len(open)-1].mark)
			open = open[:len(open)-1]
		}
	}
	if n == 0 || c == "~" && n != 2 && !end {
		return open
	}
	word := at > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before))
	literal := unicode.IsSpace(after) || word && (c == "_" || n == 1) // as in snake_case and 2*3
	if end || !literal {
		for n > 2 {
			open = append(open, opener{strings.Repeat(c, 1), at})
			n--
		}
		open = append(open, opener{strings.Repeat(c, min(n, 2)), at})
	}
	return open
}

// closing writes the other halves of what is open, the last first. A mark that nothing
// follows is left out.
func closing(block string, open []opener) string {
	for i, o := range slices.Backward(open) {
		if strings.Trim(block[min(o.at, len(block)):], " \t\n*_~`") == "" {
			block = strings.TrimRight(block[:min(o.at, len(block))], " \t")
			open = open[:i]
		}
	}
	block = strings.TrimRight(block, " \t\n")
	for _, o := range slices.Backward(open) {
		block += o.mark
	}
	return block
}

// halfLink looks at a bracket. length is that of a link that is only half there, and text
// that of the part to be read; length 0: it is whole, or none, and text is how far to go
// on.
func halfLink(s string) (text, length int) {
	depth, end := 0, -1
	for i := 0; i < len(s) && end < 0; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	switch {
	case end < 0:
		return len(s) - 1, len(s)
	case end+1 == len(s):
		return end - 1, len(s) // an address may follow
	case s[end+1] != '(':
		return 1, 0
	}
	if i := strings.IndexAny(s[end+1:], ")\n"); i >= 0 {
		return end + 1 + i, 0
	}
	return end - 1, len(s)
}
