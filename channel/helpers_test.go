package channel_test

import (
	"slices"
	"strings"

	"github.com/parley-run/parley/channel"
)

// marked writes a rich text so that its spans can be read: [bold:text].
func marked(r channel.Rich) string {
	var b strings.Builder
	next := 0
	var open []channel.Span
	for at := 0; at <= len(r.Text); at++ {
		for len(open) > 0 && open[len(open)-1].End == at {
			b.WriteString("]")
			open = open[:len(open)-1]
		}
		for next < len(r.Spans) && r.Spans[next].Start == at {
			s := r.Spans[next]
			words := slices.DeleteFunc([]string{string(s.Kind), s.Language, s.URL}, func(w string) bool { return w == "" })
			b.WriteString("[" + strings.Join(words, " ") + ":")
			open = append(open, s)
			next++
		}
		if at < len(r.Text) {
			b.WriteByte(r.Text[at])
		}
	}
	return b.String()
}
