package tool

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// keepTime is how long storing a result may take.
const keepTime = 30 * time.Second

// finish makes a tool's result one that can be stored and shown.
func (r *Registry) finish(ctx context.Context, call parley.ToolCall, result parley.ToolResult) parley.ToolResult {
	result.CallID = call.ID
	// Before anything is cut: half a secret is not found.
	result.Text = r.clean(result.Text)
	if m := result.Media; m != nil {
		if name := r.name(m.Name); name != m.Name {
			result.Media = &parley.Media{Handle: m.Handle, Type: m.Type, Name: name, Size: m.Size}
		}
	}
	if len(result.Text) <= r.cfg.MaxResult {
		return result
	}
	whole := result.Text
	fate := "the rest is lost; ask for less at a time"
	switch {
	case r.cfg.KeepFunc == nil:
	case result.Media != nil:
		fate = "the rest is lost, as the result has media of its own"
	default:
		// The tool has run, so a result there must be, also if this fails, and also
		// if nobody waits for it any more.
		storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
		defer cancel()
		blob, err := r.cfg.KeepFunc(storing, strings.NewReader(whole))
		if err != nil {
			fate = "the rest is lost, as it could not be stored"
			break
		}
		fate = "the whole result is kept as " + string(blob.Handle)
		result.Media = &parley.Media{Handle: string(blob.Handle), Type: blob.Type, Name: call.Name + ".txt", Size: blob.Size}
	}
	result.Text = shorten(whole, r.cfg.MaxResult, fate)
	return result
}

// clean gives text as a store takes it, without secrets.
func (r *Registry) clean(text string) string {
	const unknown = string(utf8.RuneError)
	return strings.ReplaceAll(strings.ToValidUTF8(r.scrub(text), unknown), "\x00", unknown)
}

// name gives the name of a file as a store takes it: on one line, not too long,
// without secrets.
func (r *Registry) name(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, r.clean(text))
	// Again, as a space may be what a secret has there.
	return head(strings.TrimSpace(r.scrub(text)), parley.MaxNameBytes-len("…"))
}

// shorten leaves out the middle of a text, at characters, and says how much that
// is. The whole has at most that many bytes.
func shorten(text string, most int, fate string) string {
	note := func(out int) string {
		return fmt.Sprintf("\n[… %d of %d bytes are left out here; %s …]\n", out, len(text), fate)
	}
	room := most - len(note(len(text)))
	first := room / 3 * 2 // the beginning says more than the end
	last := len(text) - (room - first)
	for first > 0 && !utf8.RuneStart(text[first]) {
		first--
	}
	for last < len(text) && !utf8.RuneStart(text[last]) {
		last++
	}
	return text[:first] + note(last-first) + text[last:]
}
