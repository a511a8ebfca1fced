package scripted

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// template is text with places for what a request brings.
type template []segment

// segment is text as it is or, if name is set, what stands for the name.
type segment struct{ text, name string }

// names are what a template can ask for, besides the groups of its rule.
var names = []string{"user", "said", "media", "tool", "result", "tools", "turn", "round"}

func groupName(i int) string { return strconv.Itoa(i) }

// parseTemplate reads a text in which ${name} stands for one of the names, or for
// a group, and $${ for ${ itself.
func parseTemplate(text string, groups []string) (template, error) {
	var t template
	add := func(text string) {
		if text == "" {
			return
		}
		if n := len(t); n > 0 && t[n-1].name == "" {
			t[n-1].text += text
			return
		}
		t = append(t, segment{text: text})
	}
	for {
		before, rest, ok := strings.Cut(text, "${")
		if !ok {
			add(text)
			return t, nil
		}
		if literal, ok := strings.CutSuffix(before, "$"); ok {
			add(literal + "${")
			text = rest
			continue
		}
		add(before)
		name, after, ok := strings.Cut(rest, "}")
		switch {
		case !ok:
			return nil, fmt.Errorf("the ${ before %q is not closed; write ${name}, or $${ for the signs themselves", cut(rest, 20))
		case !slices.Contains(names, name) && !slices.Contains(groups, name):
			more := "there are no groups, as the rule has no matches"
			if len(groups) > 0 {
				more = "the groups of matches are " + strings.Join(groups, ", ")
			}
			return nil, fmt.Errorf("${%s} stands for nothing; there are %s; %s; write $${ for the signs themselves", cut(name, 40), strings.Join(names, ", "), more)
		}
		t = append(t, segment{name: name})
		text = after
	}
}

// parts gives the text piece by piece.
func (t template) parts(v *view, found groups) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range t {
			text := s.text
			if s.name != "" {
				text = v.value(s.name, found)
			}
			if !yield(text) {
				return
			}
		}
	}
}

// text gives the text as a whole.
func (t template) text(v *view, found groups) string {
	var b strings.Builder
	for part := range t.parts(v, found) {
		b.WriteString(part)
	}
	return b.String()
}

// value gives what stands for a name. A group comes first, as its name was chosen
// by who wrote the rule.
func (v *view) value(name string, found groups) string {
	if text, ok := found[name]; ok {
		return text
	}
	switch name {
	case "user":
		return v.user
	case "said":
		return v.quoted()
	case "media":
		return list(v.media)
	case "tool":
		return v.tools()
	case "result":
		return v.shown()
	case "tools":
		if len(v.offered) == 0 {
			return "(none)"
		}
		return strings.Join(v.offered, ", ")
	case "turn":
		return strconv.Itoa(v.turn)
	case "round":
		return strconv.Itoa(v.round)
	}
	return ""
}
