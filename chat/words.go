package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/parley-run/parley"
)

// clean gives text without what a terminal would take for a command, and without what
// turns text around. Line ends and tabs stay.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// line gives text on one line, clean.
func line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// begins gives how a text begins, on one line: enough for any window, however long the
// text is.
func begins(text string) string {
	const most = 2000
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return line(text)
}

// saidBriefly is how a message of a person begins.
func saidBriefly(parts []parley.Part) string {
	for _, p := range parts {
		if _, _, file := attachment(&p); !file && p.Kind == parley.PartText && !p.Note && p.Text != "" {
			return begins(p.Text)
		}
	}
	return line(saidText(parts))
}

// saidText is a message of a person as it is shown: its texts, and the names of what
// came with them.
func saidText(parts []parley.Part) string {
	var lines []string
	for _, p := range parts {
		name, content, file := attachment(&p)
		switch {
		case p.Media != nil:
			lines = append(lines, mediaText(p.Media))
		case file:
			lines = append(lines, fmt.Sprintf("[%s, %s]", name, size(int64(len(content)))))
		case p.Kind == parley.PartText && !p.Note:
			lines = append(lines, p.Text)
		}
	}
	return clean(strings.Join(lines, "\n"))
}

// spoken is what a person wrote of a message, to be changed or said again; files: some
// went with it.
func spoken(parts []parley.Part) (text string, files bool) {
	wrote := slices.DeleteFunc(slices.Clone(parts), func(p parley.Part) bool {
		_, _, file := attachment(&p)
		files = files || file || p.Media != nil
		return file
	})
	return parley.PlainText(wrote), files
}

// The beginnings of the ids that Parley's own surfaces give to what is said there.
const (
	terminalPrefix = "chat-"
	webPrefix      = "web-"
)

// surface says where a message came from; empty: from a terminal, or nobody knows.
func surface(id string, in *parley.Admitted, by parley.IdentityID) string {
	if in != nil && in.Kind == parley.InputAutomation {
		return "schedule"
	}
	if strings.HasPrefix(id, terminalPrefix) {
		return ""
	}
	if strings.HasPrefix(id, webPrefix) {
		return "web"
	}
	channel, _, _ := strings.Cut(string(by), ":")
	switch channel {
	case "", "user", "local", "cli":
		return ""
	}
	return channel
}

// speaker names who said something.
func speaker(s *parley.Sender, in *parley.Admitted, by parley.IdentityID) string {
	if s == nil && in != nil {
		s = &in.Sender
	}
	if s != nil && s.Name != "" {
		return line(s.Name)
	}
	return string(by)
}

// size gives a number of bytes as people say it.
func size(n int64) string {
	switch {
	case n < 1_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1_000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// tokens gives a number of tokens in few characters.
func tokens(n int64) string {
	switch {
	case n < 1_000:
		return fmt.Sprintf("%d", n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1_000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// ago says how long ago something was, in few characters.
func ago(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 365*24*time.Hour:
		return at.Local().Format("2 Jan")
	}
	return at.Local().Format("Jan 2006")
}

// lasting says how long something has been going on.
func lasting(d time.Duration) string {
	d = max(d, 0).Truncate(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// countOf gives a number with its word.
func countOf(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
