package scripted

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// step is a part of an answer: one of the fields is set, and pace besides.
type step struct {
	text      template
	reasoning template
	words     int
	call      *callStep
	delay     time.Duration
	fail      *failStep
	stop      parley.StopReason
	pace      *time.Duration
}

type failStep struct {
	code       parley.Code
	message    template
	retryAfter time.Duration
	tries      int // 0: it fails however often it is tried
}

type callStep struct {
	tool      template
	arguments argument
}

func textStep(text string) step {
	t, err := parseTemplate(text, nil)
	if err != nil {
		panic(err) // the texts are in this package, and the tests use them all
	}
	return step{text: t}
}

// callName gives a name that a call can have.
func callName(text string) string {
	const most = 64
	name := strings.TrimSpace(within(text, most))
	if name == "" {
		return "unnamed"
	}
	return name
}

// argument is a value of a call's arguments.
type argument struct {
	kind kind
	raw  string     // of a number, true, false and null: its JSON
	text template   // of text; if it is all there is, of the JSON itself
	list []argument // of a list
	keys []argumentKey
}

type argumentKey struct {
	name  string
	value argument
}

// json gives the arguments as JSON, at most so many bytes. Arguments that were
// written as text are the JSON themselves; if that is not JSON, they are a JSON
// string of what came, as they are with every model.
func (arg argument) json(v *view, found groups, most int) (json.RawMessage, bool) {
	w := &limited{most: most}
	if arg.kind != kindText {
		arg.write(w, v, found)
		return w.Bytes(), !w.full
	}
	for part := range arg.text.parts(v, found) {
		w.add(part)
	}
	text := bytes.TrimSpace(w.Bytes())
	switch {
	case len(text) == 0:
		return json.RawMessage("{}"), !w.full
	case json.Valid(text):
		return text, !w.full
	}
	quoted := &limited{most: most, full: w.full}
	quoted.quote(string(text))
	return quoted.Bytes(), !quoted.full
}

func (arg argument) write(w *limited, v *view, found groups) {
	if w.full {
		return
	}
	switch arg.kind {
	case kindText:
		var text limited
		text.most = w.most
		for part := range arg.text.parts(v, found) {
			text.add(part)
		}
		w.full = w.full || text.full
		w.quote(text.String())
	case kindList:
		w.add("[")
		for i, item := range arg.list {
			if i > 0 {
				w.add(",")
			}
			item.write(w, v, found)
		}
		w.add("]")
	case kindMap:
		w.add("{")
		for i, k := range arg.keys {
			if i > 0 {
				w.add(",")
			}
			w.quote(k.name)
			w.add(":")
			k.value.write(w, v, found)
		}
		w.add("}")
	default:
		w.add(arg.raw)
	}
}

// limited is a buffer that takes so much and no more.
type limited struct {
	bytes.Buffer
	most int
	full bool // something did not fit
}

func (l *limited) add(text string) {
	if l.full || l.Len()+len(text) > l.most {
		l.full = true
		return
	}
	l.WriteString(text)
}

// quote adds text as a JSON string.
func (l *limited) quote(text string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		l.full = true // a string can always be written
		return
	}
	l.add(strings.TrimSuffix(b.String(), "\n"))
}

// pieceBytes is about how much text a piece has at most.
const pieceBytes = 16

// pieces cuts text after each word, and long words as well.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			n := len(text)
			if i := strings.IndexAny(text, " \n"); i >= 0 {
				n = i + 1
			}
			piece := within(text, min(n, pieceBytes))
			if !yield(piece) {
				return
			}
			text = text[len(piece):]
		}
	}
}

// within gives the beginning of text that has at most so many bytes, in whole
// characters.
func within(text string, most int) string {
	if len(text) <= most {
		return text
	}
	most = max(0, most)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// prose is what long answers are made of.
var prose = strings.Fields(`A script has no opinion and no memory of its own. It says what was written for it, one word after the other,
so that you can watch an answer arrive. Nothing is looked up and nothing is made up here. Read along, stop it in the middle, or go away and come back:
what was said stays said. Then the same words begin again, because there are no others.`)

// words gives so many words of prose.
func words(n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			word := prose[i%len(prose)]
			switch {
			case i == n-1:
				word = strings.TrimRight(word, ".,:") + "."
			case i%len(prose) == len(prose)-1:
				word += "\n\n"
			default:
				word += " "
			}
			if !yield(word) {
				return
			}
		}
	}
}
