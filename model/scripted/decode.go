package scripted

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// decoder turns nodes into a script.
type decoder struct{ *reader }

// field is a key of a map, and how its value is read.
type field struct {
	name string
	read func(node)
}

// object reads the keys of a map in the order of fields, and refuses others. What
// is the map in words.
func (d *decoder) object(n node, what string, fields ...field) bool {
	if n.kind != kindMap {
		d.fail(n.place, "%s is %s; write it with keys: %s", what, n.kind, keyNames(fields))
		return false
	}
	for _, e := range n.keys {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == e.name }) {
			d.fail(e.place, "%q is not known in %s; the keys are %s", cut(e.name, 40), what, keyNames(fields))
		}
	}
	for _, f := range fields {
		for _, e := range n.keys {
			if e.name == f.name {
				f.read(e.value)
			}
		}
	}
	return true
}

func keyNames(fields []field) string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// find gives the value of a key.
func (n node) find(name string) (node, bool) {
	for _, e := range n.keys {
		if e.name == name {
			return e.value, true
		}
	}
	return node{}, false
}

func (d *decoder) script(n node) *Script {
	s := &Script{}
	ok := d.object(
		n, "the script",
		field{"pace", func(n node) { s.pace = d.duration(n, "pace") }},
		field{"rules", func(n node) {
			if n.kind != kindList {
				d.fail(n.place, "rules is %s; write a list, each rule with a - in front", n.kind)
				return
			}
			for _, item := range n.list {
				r := d.rule(item)
				s.limited = s.limited || r.times > 0
				s.rules = append(s.rules, r)
			}
		}},
	)
	if _, there := n.find("rules"); ok && !there {
		d.fail(n.place, "the script has no rules; write rules: and a list below it")
	}
	return s
}

func (d *decoder) rule(n node) rule {
	var r rule
	ok := d.object(
		n, "a rule",
		field{"when", func(n node) { r.when = d.condition(n) }},
		field{"times", func(n node) { r.times = d.number(n, "times", 1_000_000) }},
		field{"say", func(n node) { r.steps = d.steps(n, r.when.groups()) }},
	)
	if _, there := n.find("say"); ok && !there {
		d.fail(n.place, "the rule says nothing; give it say: with a text or a list of steps")
	}
	return r
}

// groups names the groups that a rule's texts can use.
func (c *condition) groups() []string {
	if c.matches == nil {
		return nil
	}
	var all []string
	for i, name := range c.matches.SubexpNames() {
		all = append(all, groupName(i))
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

func (d *decoder) condition(n node) condition {
	var c condition
	if n.kind == kindNull {
		return c
	}
	d.object(
		n, "when",
		field{"equals", func(n node) { c.equals = d.texts(n, "equals") }},
		field{"starts", func(n node) { c.starts = d.texts(n, "starts") }},
		field{"contains", func(n node) { c.contains = d.texts(n, "contains") }},
		field{"matches", func(n node) { c.matches = d.regexp(n) }},
		field{"after_tool", func(n node) {
			for _, item := range d.items(n) {
				c.afterTool = append(c.afterTool, d.text(item, "after_tool"))
			}
		}},
		field{"failed", func(n node) { c.failed = d.flag(n, "failed") }},
		field{"offers", func(n node) {
			for _, item := range d.items(n) {
				c.offers = append(c.offers, d.template(item, "offers", c.groups()))
			}
		}},
		field{"media", func(n node) { c.media = d.flag(n, "media") }},
		field{"turn", func(n node) { c.turn = d.number(n, "turn", 1_000_000) }},
		field{"round", func(n node) { c.round = d.number(n, "round", 1_000_000) }},
	)
	if failed, _ := n.find("failed"); c.failed != nil && c.afterTool == nil {
		d.fail(failed.place, "failed is about the result of a tool; add after_tool, such as after_tool: any")
	}
	return c
}

// items gives the values of a list, or the one value that stands for a list.
func (d *decoder) items(n node) []node {
	switch {
	case n.kind != kindList:
		return []node{n}
	case len(n.list) == 0:
		d.fail(n.place, "the list is empty, so nothing fits; write something into it, or remove it")
	}
	return n.list
}

// texts reads one text or several, for comparison.
func (d *decoder) texts(n node, what string) []string {
	var all []string
	for _, item := range d.items(n) {
		all = append(all, strings.ToLower(strings.TrimSpace(d.text(item, what))))
	}
	return all
}

func (d *decoder) regexp(n node) *regexp.Regexp {
	text := d.text(n, "matches")
	re, err := regexp.Compile(text)
	if err != nil {
		d.fail(n.place, "matches is not a regular expression: %s; see https://pkg.go.dev/regexp/syntax", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	return re
}

func (d *decoder) steps(n node, groups []string) []step {
	switch n.kind {
	case kindList:
	case kindMap:
		d.fail(n.place, "say is a map; write a text, or a list of steps, each with a - in front")
		return nil
	default:
		return []step{{text: d.template(n, "say", groups)}}
	}
	var steps []step
	for i, item := range n.list {
		if item.kind == kindText || item.kind == kindInt || item.kind == kindFloat {
			steps = append(steps, step{text: d.template(item, "a step", groups)})
			continue
		}
		s := d.step(item, groups)
		if last := i == len(n.list)-1; !last && (s.stop != "" || s.fail != nil && s.fail.tries == 0) {
			d.fail(item.place, "the answer ends here, but steps follow; remove them, or give the error tries: n, after which it passes")
		}
		steps = append(steps, s)
	}
	return steps
}

// step reads a step that is a map.
func (d *decoder) step(n node, groups []string) step {
	var s step
	ok := d.object(
		n, "a step",
		field{"text", func(n node) { s.text = d.template(n, "text", groups) }},
		field{"reasoning", func(n node) { s.reasoning = d.template(n, "reasoning", groups) }},
		field{"words", func(n node) { s.words = d.number(n, "words", 10_000_000) }},
		field{"call", func(n node) { s.call = d.call(n, groups) }},
		field{"delay", func(n node) {
			if p := d.duration(n, "delay"); p != nil {
				s.delay = *p
			}
		}},
		field{"error", func(n node) { s.fail = d.failure(n, groups) }},
		field{"stop", func(n node) {
			s.stop = parley.StopReason(d.oneOf(n, "stop", string(parley.StopDone), string(parley.StopLength), string(parley.StopContentFilter)))
		}},
		field{"pace", func(n node) { s.pace = d.duration(n, "pace") }},
	)
	if !ok {
		return s
	}
	does, paced := 0, false
	for _, name := range []string{"text", "reasoning", "words", "call", "delay", "error", "stop"} {
		if _, there := n.find(name); there {
			does++
			paced = paced || name == "text" || name == "reasoning" || name == "words"
		}
	}
	if does != 1 {
		d.fail(n.place, "a step does one thing, and this does %d; give each a step of its own, with a - in front", does)
	} else if s.pace != nil && !paced {
		d.fail(n.place, "pace has no use here; it belongs to text, reasoning or words")
	}
	return s
}

func (d *decoder) call(n node, groups []string) *callStep {
	c := &callStep{arguments: argument{kind: kindMap}}
	if n.kind == kindText {
		c.tool = d.template(n, "call", groups)
		return c
	}
	ok := d.object(
		n, "call",
		field{"tool", func(n node) { c.tool = d.template(n, "tool", groups) }},
		field{"arguments", func(n node) {
			if n.kind != kindNull {
				c.arguments = d.argument(n, groups)
			}
		}},
	)
	if ok && len(c.tool) == 0 {
		d.fail(n.place, "the call names no tool; add tool: and its name")
	}
	return c
}

// argument reads any value.
func (d *decoder) argument(n node, groups []string) argument {
	arg := argument{kind: n.kind}
	switch n.kind {
	case kindNull:
		arg.raw = "null"
	case kindBool:
		arg.raw = n.text
	case kindInt, kindFloat:
		if arg.raw = n.raw; arg.raw == "" {
			d.fail(n.place, "%s cannot be written as JSON; put it in quotes", cut(n.text, 40))
		}
	case kindText:
		arg.text = d.template(n, "arguments", groups)
	case kindList:
		for _, item := range n.list {
			arg.list = append(arg.list, d.argument(item, groups))
		}
	case kindMap:
		for _, e := range n.keys {
			arg.keys = append(arg.keys, argumentKey{e.name, d.argument(e.value, groups)})
		}
	}
	return arg
}

func (d *decoder) failure(n node, groups []string) *failStep {
	f := &failStep{message: template{{text: "This is an error on purpose, from the script of the offline model."}}}
	code := func(n node) {
		f.code = parley.Code(d.oneOf(
			n, "code", string(parley.CodeUnavailable), string(parley.CodeRateLimited), string(parley.CodeUnauthorized),
			string(parley.CodeTooLarge), string(parley.CodeInvalid),
		))
	}
	if n.kind == kindText {
		code(n)
		return f
	}
	ok := d.object(
		n, "error",
		field{"code", code},
		field{"message", func(n node) { f.message = d.template(n, "message", groups) }},
		field{"retry_after", func(n node) {
			if p := d.duration(n, "retry_after"); p != nil {
				f.retryAfter = *p
			}
		}},
		field{"tries", func(n node) { f.tries = d.number(n, "tries", 1_000) }},
	)
	if _, there := n.find("code"); ok && !there {
		d.fail(n.place, "the error has no code; add code: unavailable, or another")
	}
	return f
}
