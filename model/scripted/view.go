package scripted

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

const (
	resultRunes = 400 // of a result that an answer shows
	saidRunes   = 200 // of an earlier message that an answer quotes
	saidMost    = 5   // earlier messages that an answer quotes
)

// view is what the rules look at: where a conversation stands after some of its
// messages.
type view struct {
	offered []string              // names of tools
	user    string                // what was said last, as it came, once somebody listens
	heard   string                // the same without what a group puts in front
	lower   string                // the same in small letters
	deaf    bool                  // nobody has listened to it yet
	said    []parley.ModelMessage // by people
	media   []string              // what came with the last, described
	turn    int                   // how often people have spoken; messages in a row are one
	round   int                   // how many answers there are since, and one
	speaker parley.MessageRole
	calls   map[parley.CallID]string // names of the tools that the last answer calls
	results []result                 // of these calls
}

type result struct {
	tool string
	parley.ToolResult
}

func newView(tools []parley.ToolSpec) *view {
	v := &view{round: 1, calls: map[parley.CallID]string{}}
	for _, t := range tools {
		v.offered = append(v.offered, clean(t.Name))
	}
	return v
}

// inFront is what stands before a message in a group: names in brackets, and the
// agent's own.
var inFront = regexp.MustCompile(`^(?:\[[^\]\n]{1,80}\] |@\S+\s+)*`)

// add moves the view behind a message.
func (v *view) add(m parley.ModelMessage) {
	switch m.Role {
	case parley.MessageUser:
		v.hear(m)
	case parley.MessageAssistant:
		v.round++
		v.results = nil
		clear(v.calls)
		for _, p := range m.Parts {
			if p.Call != nil {
				v.calls[p.Call.ID] = clean(p.Call.Name)
			}
		}
	case parley.MessageTool:
		for _, p := range m.Parts {
			if p.Result != nil {
				tool, ok := v.calls[p.Result.CallID]
				if !ok {
					tool = "unknown"
				}
				v.results = append(v.results, result{tool, *p.Result})
			}
		}
	default: // what the system says is nobody's turn
		return
	}
	v.speaker = m.Role
}

func (v *view) hear(m parley.ModelMessage) {
	if v.speaker != parley.MessageUser {
		v.turn++
		v.media = nil
	}
	for _, p := range m.Parts {
		if p.Media != nil {
			v.media = append(v.media, describe(p.Media, len(p.Data)))
		}
	}
	v.said = append(v.said, m)
	v.round, v.results, v.deaf = 1, nil, true
}

// listen takes in what was said last. What was said before is seldom looked at.
func (v *view) listen() {
	if !v.deaf {
		return
	}
	v.deaf = false
	v.user = textOf(v.said[len(v.said)-1])
	v.heard = strings.TrimSpace(v.user[len(inFront.FindString(v.user)):])
	v.lower = strings.ToLower(v.heard)
}

// textOf gives what a message says.
func textOf(m parley.ModelMessage) string {
	parts := make([]parley.Part, 0, len(m.Parts))
	for _, p := range m.Parts {
		parts = append(parts, p.Part)
	}
	return strings.TrimSpace(clean(parley.PlainText(parts)))
}

// describe says what a file is, by its bytes if they are there.
func describe(m *parley.Media, size int) string {
	text := clean(m.Type)
	if text == "" {
		text = "a file of an unknown type"
	}
	if size == 0 {
		size = int(m.Size)
	}
	text += ", " + strconv.Itoa(size) + " bytes"
	if m.Name != "" {
		text = clean(m.Name) + ": " + text
	}
	return text
}

// afterTool reports whether the results of tools are what came last.
func (v *view) afterTool() bool { return len(v.results) > 0 && v.speaker == parley.MessageTool }

// failed reports whether a result is one of a failure.
func (v *view) failed() bool {
	return slices.ContainsFunc(v.results, func(r result) bool { return r.IsError || r.Unknown })
}

// tools names the tools that gave the results.
func (v *view) tools() string {
	var names []string
	for _, r := range v.results {
		if !slices.Contains(names, r.tool) {
			names = append(names, r.tool)
		}
	}
	return strings.Join(names, " and ")
}

// shown gives what the tools gave, in short.
func (v *view) shown() string {
	var lines []string
	for _, r := range v.results {
		text := strings.TrimSpace(clean(r.Text))
		switch {
		case text != "":
			text = cut(text, resultRunes)
		case r.Unknown:
			text = "nobody knows what it did, because the program ended while it ran"
		case r.Media == nil:
			text = "(nothing)"
		}
		if r.Media != nil {
			text = strings.TrimSpace(text + " (" + describe(r.Media, 0) + ")")
		}
		if len(v.results) > 1 {
			text = r.tool + ": " + text
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// quoted gives what was said before, the latest first.
func (v *view) quoted() string {
	var lines []string
	for i := len(v.said) - 2; i >= 0 && len(lines) < saidMost; i-- {
		if text := textOf(v.said[i]); text != "" {
			lines = append(lines, fmt.Sprintf("%d. “%s”", len(lines)+1, cut(text, saidRunes)))
		}
	}
	return list(lines)
}

// list puts lines below each other.
func list(lines []string) string {
	if len(lines) == 0 {
		return "(nothing)"
	}
	return strings.Join(lines, "\n")
}

// clean takes out what cannot be stored.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
