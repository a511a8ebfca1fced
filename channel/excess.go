package channel

import (
	"regexp"
	"strings"
)

// The parser's work can grow with the square of a paragraph, and nobody writes one of
// thousands of words to be read. Longer ones, and longer texts, stay as they are.
const (
	maxMarkdown  = 64 << 10 // bytes
	maxParagraph = 10 << 10
)

// ownParagraph is a line that does not go on with what the line before says.
var ownParagraph = regexp.MustCompile(`^[\s>]*(?:[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|\||$)`)

// excessive reports whether a text is not worth parsing. Code may be as long as it likes.
func excessive(source string) bool {
	if len(source) > maxMarkdown {
		return true
	}
	open := ""
	length := 0
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, "\n")
		inCode := open != ""
		open = fenceAfter(open, line)
		if inCode || open != "" || ownParagraph.MatchString(line) {
			length = 0
		}
		if !inCode {
			length += len(line)
		}
		if length > maxParagraph {
			return true
		}
	}
	return false
}
