package chat

import (
	"bytes"
	"encoding/json"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-run/parley"
)

// lines gives an item as it is drawn in a width.
func (it *item) lines(t theme, width int) []string {
	if it.drawn.width != width {
		it.drawn = drawn{width, it.draw(t, width)}
	}
	return it.drawn.lines
}

func (it *item) draw(t theme, width int) []string {
	var lines []string
	switch it.kind {
	case itemSaid:
		lines = it.drawSaid(t, width)
	case itemAnswer:
		lines = it.doc.Lines(width)
	case itemThought:
		lines = it.drawThought(t, width)
	case itemCall:
		lines = it.drawCall(t, width)
	case itemTold:
		lines = indent(wrap(clean(it.text), width-2), t.faint.Render("│ "))
	case itemNote:
		style := t.faint
		if it.bad {
			style = t.bad
		}
		lines = paint(style, wrap("· "+line(it.text), width))
	case itemMark:
		lines = []string{t.warn.Render(across(it.text, width))}
	}
	if it.undone {
		for i, l := range lines {
			lines[i] = t.faint.Render(ansi.Strip(l))
		}
	}
	return lines
}

// drawSaid draws what a person said, with a bar beside it, below who it was if that
// is not clear.
func (it *item) drawSaid(t theme, width int) []string {
	var head []string
	if it.by != "" {
		head = append(head, t.strong.Render(ansi.Truncate(it.by, width/2, "…")))
	}
	if it.via != "" {
		head = append(head, t.faint.Render(it.via))
	}
	var lines []string
	if len(head) > 0 {
		lines = append(lines, strings.Join(head, t.faint.Render(" · ")))
	}
	text, more := it.text, ""
	if it.folds() && !it.open {
		text, more = foldText(text)
	}
	lines = append(lines, wrap(text, width-2)...)
	if more != "" {
		lines = append(lines, t.faint.Render("▸ "+more))
	}
	return indent(lines, t.accent.Render("▌")+" ")
}

func (it *item) drawThought(t theme, width int) []string {
	if !it.open {
		text := line(lastLine(it.doc.Text()))
		return []string{t.faint.Render(ansi.Truncate("▸ thinking: "+text, width, "…"))}
	}
	lines := []string{t.faint.Render("▾ thinking")}
	return append(lines, indent(paint(t.faint, wrap(strings.TrimSpace(it.doc.Text()), width-2)), "  ")...)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// drawCall draws a tool call: on one line, or with all that is known of it.
func (it *item) drawCall(t theme, width int) []string {
	c := it.call
	fold, style := "▸ ", t.faint
	if it.open {
		fold = "▾ "
	}
	outcome := c.outcome()
	if c.state == callAsked {
		style = t.warn
	}
	if c.state == callUnknown || c.result != nil && c.result.IsError {
		style = t.bad
	}
	head := fold + line(c.tool)
	if room := width - ansi.StringWidth(head) - ansi.StringWidth(outcome) - 4; !it.open && room > 4 {
		if brief := brief(c.arguments); brief != "" {
			head += " " + ansi.Truncate(brief, room, "…")
		}
	}
	if outcome != "" {
		outcome = " · " + outcome
	}
	lines := []string{ansi.Truncate(t.faint.Render(head)+style.Render(outcome), width, "…")}
	if !it.open {
		return lines
	}
	lines = append(lines, indent(argumentLines(c.arguments, width-2), "  ")...)
	if c.result == nil {
		return lines
	}
	text := clean(c.result.Text)
	if c.result.Media != nil {
		text = strings.TrimSpace(text + "\n" + line(mediaText(c.result.Media)))
	}
	return append(lines, indent(paint(t.faint, most(wrap(text, width-4))), t.faint.Render("  │ "))...)
}

// outcome says how far a call is, in a word or two.
func (c *call) outcome() string {
	switch {
	case c.result != nil && c.result.Unknown || c.state == callUnknown:
		return "nobody knows what it did"
	case c.decision != "" && c.decision != parley.ApprovalApproved:
		return string(c.decision)
	case c.result != nil && c.result.IsError:
		return "failed"
	case c.result != nil || c.state == callDone:
		return "done"
	case c.state == callAsked:
		return "needs your approval"
	case c.state == callRunning:
		return "running…"
	}
	return ""
}

// mostLines is how much of a tool's result is drawn.
const mostLines = 2000

func most(lines []string) []string {
	if len(lines) <= mostLines {
		return lines
	}
	return append(lines[:mostLines:mostLines], "… and "+countOf(len(lines)-mostLines, "more line"))
}

// brief gives arguments on one line: the one value there is, or all of them.
func brief(arguments []byte) string {
	fields := fieldsOf(arguments)
	if len(fields) == 1 {
		return line(fields[0].text)
	}
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.name + "=" + line(f.text)
	}
	if fields == nil {
		return line(string(arguments))
	}
	return strings.Join(texts, " ")
}

// field is one argument of a call.
type field struct{ name, text string }

// fieldsOf gives the arguments of a call, in their order; nil: they are no object.
func fieldsOf(arguments []byte) []field {
	d := json.NewDecoder(bytes.NewReader(arguments))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	fields := []field{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		key, _ := name.(string) // names of fields are texts
		fields = append(fields, field{line(key), clean(text)})
	}
	return fields
}

// argumentLines gives the arguments of a call in full, for reading: short ones behind
// their names, long ones below.
func argumentLines(arguments []byte, width int) []string {
	fields := fieldsOf(arguments)
	if fields == nil {
		return wrap(clean(string(arguments)), width)
	}
	var lines []string
	for _, f := range fields {
		if head := f.name + ": " + f.text; !strings.Contains(f.text, "\n") && ansi.StringWidth(head) <= width {
			lines = append(lines, head)
			continue
		}
		lines = append(lines, wrap(f.name+":", width)...)
		lines = append(lines, indent(wrap(strings.TrimRight(f.text, "\n"), width-2), "  ")...)
	}
	return lines
}

// wrap breaks text into lines of at most width cells.
func wrap(text string, width int) []string {
	text = strings.ReplaceAll(text, "\t", "    ")
	return strings.Split(ansi.Wrap(text, max(width, 1), " "), "\n")
}

// indent puts something before each line.
func indent(lines []string, before string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = before + l
	}
	return out
}

// paint gives each line a style.
func paint(style lipgloss.Style, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = style.Render(l)
	}
	return out
}

// across gives a line over the whole width with a text in it.
func across(text string, width int) string {
	text = ansi.Truncate("── "+text+" ", width, "…")
	return text + strings.Repeat("─", max(width-ansi.StringWidth(text), 0))
}
