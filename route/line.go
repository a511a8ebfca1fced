package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// MaxLine is how long a question to [Lines] may be.
const MaxLine = parley.MaxBodyBytes

// Lines answers questions that are JSON objects, one per line. It keeps what it
// learned from a line for the next, so one goroutine at a time may use it.
type Lines struct {
	router *Router
	links  map[string]lineLinks // by their text
}

// lineLinks are the identity links that came with a line.
type lineLinks struct {
	links *Links
	err   error
}

// Identity links are kept for lines to come, if they are not too many or too
// long.
const (
	maxLineLinks     = 64
	maxLineLinksText = 4 << 10
)

// NewLines makes a Lines that answers as rt does.
func NewLines(rt *Router) *Lines { return &Lines{router: rt, links: map[string]lineLinks{}} }

// The names of a question's fields. What is absent or null comes from the
// configuration.
var (
	questionFields = []string{
		"context", "agent_id", "dimensions", "group_sessions_per_user", "thread_sessions_per_user", "unified",
		"identity_links", "user", "role", "session_key",
	}
	contextFields = []string{
		"channel", "account", "space_type", "space_id", "chat_type", "chat_id", "topic_id", "sender_id", "sender_id_alt",
	}
)

// Decode reads a question. What cannot be read is [parley.CodeInvalid], or
// [parley.CodeTooLarge] if it is longer than [MaxLine].
func (l *Lines) Decode(line []byte) (Request, error) {
	switch {
	case len(line) > MaxLine:
		return Request{}, TooLong()
	case len(bytes.TrimSpace(line)) == 0:
		return Request{}, parley.Errorf(parley.CodeInvalid, "the line is empty; it must be a JSON object with a context")
	case !utf8.Valid(line):
		return Request{}, parley.Errorf(parley.CodeInvalid, "the line is not valid UTF-8")
	}
	q := question{lines: l, scanner: scanner{data: line}}
	q.req.Explain = true
	if err := q.object("", questionFields, q.field); err != nil {
		return Request{}, err
	}
	if q.next() != 0 || q.pos < len(line) {
		return Request{}, parley.Errorf(parley.CodeInvalid, "the line goes on after its JSON object: %s", quote(string(line[q.pos:])))
	}
	if !q.context {
		return Request{}, parley.Errorf(parley.CodeInvalid, "the line has no context")
	}
	return q.req, nil
}

// question is a line that is being read.
type question struct {
	scanner
	lines   *Lines
	req     Request
	context bool // there was one
}

// field reads a field by its number.
func (q *question) field(i int) (err error) {
	var text string
	switch name := questionFields[i]; name {
	case "context":
		var null bool
		if null, err = q.null(); null || err != nil {
			return err
		}
		q.context = true
		return q.object(name, contextFields, q.contextField)
	case "agent_id":
		q.req.Agent, err = q.word(name)
	case "dimensions":
		err = q.dimensions(name)
	case "group_sessions_per_user":
		q.req.GroupSessionsPerUser, err = q.flag(name)
	case "thread_sessions_per_user":
		q.req.ThreadSessionsPerUser, err = q.flag(name)
	case "unified":
		q.req.Unified, err = q.flag(name)
	case "identity_links":
		err = q.links()
	case "user":
		text, err = q.word(name)
		q.req.User = parley.UserID(text)
	case "role":
		text, err = q.word(name)
		q.req.Role = parley.Role(text)
	case "session_key":
		q.req.Key, err = q.word(name)
	}
	return err
}

func (q *question) contextField(i int) (err error) {
	in := &q.req.Inbound
	to := [...]*string{
		&in.Channel, &in.Account, &in.SpaceType, &in.SpaceID, &in.ChatType, &in.ChatID, &in.TopicID, &in.Sender.ID, &in.Sender.AltID,
	}
	*to[i], err = q.word(contextFields[i])
	return err
}

func (q *question) dimensions(name string) error {
	if null, err := q.null(); null || err != nil {
		return err
	}
	q.req.Dimensions = make([]parley.Dimension, 0, len(allDimensions))
	return q.list(name, func() error {
		if q.next() != '"' {
			return q.mistyped("a dimension", "a text")
		}
		d, err := q.text()
		q.req.Dimensions = append(q.req.Dimensions, parley.Dimension(d))
		return err
	})
}

func (q *question) links() error {
	raw, err := q.value()
	if err != nil {
		return err
	}
	q.req.Links, err = q.lines.linksOf(raw)
	return err
}

// TooLong is the error for a line that is longer than [MaxLine].
func TooLong() error {
	return parley.Errorf(parley.CodeTooLarge, "the line is too long; at most %d bytes are allowed", MaxLine)
}

// linksOf compiles the identity links of a line. Most lines have the same as one
// before.
func (l *Lines) linksOf(raw json.RawMessage) (*Links, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil, nil //nolint:nilnil // no links of its own
	}
	known, ok := l.links[string(raw)]
	if !ok {
		known.links, known.err = parseLinks(raw)
		if len(l.links) == maxLineLinks {
			clear(l.links)
		}
		if len(raw) <= maxLineLinksText {
			l.links[string(raw)] = known
		}
	}
	return known.links, known.err
}

func parseLinks(raw json.RawMessage) (*Links, error) {
	var given map[string][]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err := dec.Decode(&given)
	texts := make(map[string][]string, len(given))
	for name, ids := range given {
		for _, id := range ids {
			switch id := id.(type) {
			case string:
				texts[name] = append(texts[name], id)
			case json.Number:
				texts[name] = append(texts[name], id.String())
			default:
				err = errors.Join(err, fmt.Errorf("%v is no id", id))
			}
		}
	}
	if err != nil {
		return nil, parley.Errorf(parley.CodeInvalid, "identity_links must be an object of names with lists of ids, not %s", quote(string(raw)))
	}
	links, problems := CompileLinks(texts)
	for _, p := range problems {
		if !p.Warning {
			return nil, parley.Errorf(parley.CodeInvalid, "%s: %s", pathText(p.Path[1:]), p.Message)
		}
	}
	return links, nil
}

// Append answers a line and appends the answer, which is a line too. The answer
// to a line that cannot be read is an error object; ok says whether it is not.
func (l *Lines) Append(dst, line []byte) (_ []byte, ok bool) {
	req, err := l.Decode(line)
	var res Resolution
	if err == nil {
		res, err = l.router.Resolve(req)
	}
	if err != nil {
		return AppendError(dst, err), false
	}
	return appendAnswer(dst, &res), true
}
