package scripted

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// text reads a text. A number is text as well.
func (d *decoder) text(n node, what string) string {
	switch n.kind {
	case kindText, kindInt, kindFloat:
		return n.text
	case kindBool:
		d.fail(n.place, "%s is %s, which is no text; put it in quotes if you mean it", what, n.text)
	default:
		d.fail(n.place, "%s is %s; a text is wanted", what, n.kind)
	}
	return ""
}

func (d *decoder) template(n node, what string, groups []string) template {
	t, err := parseTemplate(d.text(n, what), groups)
	if err != nil {
		d.fail(n.place, "%s: %v", what, err)
	}
	return t
}

func (d *decoder) oneOf(n node, what string, values ...string) string {
	if text := n.text; n.kind == kindText && slices.Contains(values, text) {
		return text
	}
	shown := n.kind.String()
	if n.kind == kindText {
		shown = strconv.Quote(cut(n.text, 40))
	}
	d.fail(n.place, "%s is %s; it must be one of %s", what, shown, strings.Join(values, ", "))
	return ""
}

func (d *decoder) flag(n node, what string) *bool {
	if n.kind != kindBool {
		d.fail(n.place, "%s is %s; it must be true or false, without quotes", what, n.kind)
		return nil
	}
	value := n.text == "true"
	return &value
}

func (d *decoder) number(n node, what string, most int) int {
	i, err := strconv.Atoi(n.raw)
	if n.kind != kindInt || err != nil || i < 1 || i > most {
		d.fail(n.place, "%s must be a whole number from 1 to %d, without quotes", what, most)
		return 0
	}
	return i
}

// maxDelay is the longest pause.
const maxDelay = 24 * time.Hour

func (d *decoder) duration(n node, what string) *time.Duration {
	value, err := time.ParseDuration(n.text)
	if err != nil || value < 0 || value > maxDelay || n.kind != kindText && n.text != "0" {
		d.fail(n.place, "%s must be a time up to 24h with a unit, such as 50ms, 2s or 1m", what)
		return nil
	}
	return &value
}
