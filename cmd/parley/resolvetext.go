package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

// answerText gives functions that answer lines for people.
func answerText(rt *route.Router) func() answerFunc {
	return func() answerFunc {
		lines := route.NewLines(rt)
		return func(dst, line []byte, number int64, err error) ([]byte, bool) {
			var req route.Request
			if err == nil {
				req, err = lines.Decode(line)
			}
			var res route.Resolution
			if err == nil {
				res, err = rt.Resolve(req)
			}
			if err != nil {
				return fmt.Appendf(dst, "%d  %s\n", number, visible(describe(err))), false
			}
			return append(dst, resolutionText(number, &req.Inbound, &res)...), true
		}
	}
}

// resolutionText is a resolution for people: what came in, where it goes, what
// that is called, and why.
func resolutionText(number int64, in *parley.Inbound, r *route.Resolution) string {
	who := "private"
	if r.Shared {
		who = "shared"
	}
	var b strings.Builder
	margin := strings.Repeat(" ", len(strconv.FormatInt(number, 10))+2)
	fmt.Fprintf(&b, "%d  %s: agent %s, %s\n", number, inboundText(in), r.Agent, who)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s%-7s%s\n", margin, name, visible(short(value, longestRow)))
		}
	}
	row("key", string(r.Key))
	row("scope", r.Signature)
	row("text", r.TextKey)
	for i, alias := range r.Aliases {
		name, note := "alias", ""
		if i > 0 {
			name = ""
		}
		if !slices.Contains(r.Claims, alias) {
			note = "  (not claimed)"
		}
		row(name, short(string(alias), longestRow-len(note))+note)
	}
	for i, line := range r.Why {
		name := "why"
		if i > 0 {
			name = ""
		}
		row(name, line)
	}
	return b.String()
}

// inboundText is where a message came from, as it says itself.
func inboundText(in *parley.Inbound) string {
	parts := []string{"a message"}
	for _, p := range []struct{ before, value string }{
		{"from ", in.Channel},
		{"account ", in.Account},
		{"space ", in.SpaceID},
		{chatWord(in.ChatType), in.ChatID},
		{"topic ", in.TopicID},
		{"sender ", in.Sender.ID},
		{"known as ", in.Sender.AltID},
	} {
		if value := strings.TrimSpace(p.value); value != "" {
			parts = append(parts, visible(short(p.before, longestValue)+short(value, longestValue)))
		}
	}
	if len(parts) == 1 {
		return "a message from nowhere"
	}
	return parts[0] + " " + strings.Join(parts[1:], ", ")
}

func chatWord(typ string) string {
	if typ = strings.TrimSpace(typ); typ == "" {
		return "chat "
	}
	return typ + " "
}

// How much is shown to people of a value of a message, and of what follows from
// it. What programs read is never cut.
const (
	longestValue = 64
	longestRow   = 512
)

// short cuts a text that is longer than most bytes.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	most -= len("…")
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// visible writes a text so that it stays on its line and commands no terminal.
func visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}
