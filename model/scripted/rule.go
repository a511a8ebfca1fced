package scripted

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// Script is what a model answers, read by [Load] or [Parse]. It does not change.
type Script struct {
	rules   []rule
	pace    *time.Duration
	limited bool // a rule has times
}

// rule is an answer and when it is given.
type rule struct {
	when  condition
	times int // 0: as often as it fits
	steps []step
}

// condition holds if everything that is set does.
type condition struct {
	equals, starts, contains []string // one of them, in small letters
	matches                  *regexp.Regexp
	afterTool                []string // one of them, or any
	failed                   *bool
	offers                   []template // all of them
	media                    *bool
	turn, round              int
}

// any in a list of tools stands for all.
const anyTool = "any"

// groups are what the parts of a regular expression have matched, by number and
// by name.
type groups map[string]string

// holds reports whether the condition fits where a conversation stands.
func (c *condition) holds(v *view) (groups, bool) {
	in := func(list []string, fits func(string) bool) bool {
		return list == nil || slices.ContainsFunc(list, fits)
	}
	switch {
	case v.afterTool() != (c.afterTool != nil):
		return nil, false
	case c.turn != 0 && c.turn != v.turn, c.round != 0 && c.round != v.round:
		return nil, false
	case c.media != nil && *c.media != (len(v.media) > 0):
		return nil, false
	case c.failed != nil && *c.failed != v.failed():
		return nil, false
	case !in(c.equals, func(s string) bool { return s == v.lower }),
		!in(c.starts, func(s string) bool { return startsWith(v.lower, s) }),
		!in(c.contains, func(s string) bool { return strings.Contains(v.lower, s) }),
		!in(c.afterTool, func(name string) bool { return name == anyTool || v.has(name) }):
		return nil, false
	}
	found := groups{}
	if c.matches != nil {
		match := c.matches.FindStringSubmatch(v.heard)
		if match == nil {
			return nil, false
		}
		for i, name := range c.matches.SubexpNames() {
			found[groupName(i)] = match[i]
			if name != "" {
				found[name] = match[i]
			}
		}
	}
	for _, t := range c.offers {
		if !slices.Contains(v.offered, t.text(v, found)) {
			return nil, false
		}
	}
	return found, true
}

func (v *view) has(tool string) bool {
	return slices.ContainsFunc(v.results, func(r result) bool { return r.tool == tool })
}

// startsWith reports whether text begins with words, and a letter or a digit does
// not follow.
func startsWith(text, words string) bool {
	rest, ok := strings.CutPrefix(text, words)
	next, size := utf8.DecodeRuneInString(rest)
	return ok && (size == 0 || !unicode.IsLetter(next) && !unicode.IsDigit(next))
}

// choose gives the rule that answers a request, by its place, or -1 for none. How
// often a rule was used is counted by going through the conversation again.
func (s *Script) choose(req parley.ModelRequest) (int, groups, *view) {
	v := newView(req.Tools)
	used := make([]int, len(s.rules))
	for _, m := range req.Messages {
		if s.limited && m.Role == parley.MessageAssistant {
			if i, _ := s.first(v, used); i >= 0 {
				used[i]++
			}
		}
		v.add(m)
	}
	i, found := s.first(v, used)
	return i, found, v
}

// first gives the first rule that fits and was not used up.
func (s *Script) first(v *view, used []int) (int, groups) {
	v.listen()
	for i := range s.rules {
		r := &s.rules[i]
		if r.times != 0 && used[i] >= r.times {
			continue
		}
		if found, ok := r.when.holds(v); ok {
			return i, found
		}
	}
	return -1, nil
}

// What is answered if no rule fits.
var (
	unheard = []step{textStep("This is the offline model. No rule of its script fits what was said.")}
	unread  = []step{textStep("The tool ${tool} gave: ${result}")}
)
