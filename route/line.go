package route

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// MaxLine is how long a question to [Lines] may be.
const MaxLine = parley.MaxBodyBytes

// Lines answers questions that are JSON objects, one per line. It keeps what it
// learned from a line for the next, so one goroutine at a time may use it.
type Lines struct {
	router *Router
	reader bytes.Reader
	out    bytes.Buffer
	enc    *json.Encoder

	linksText []byte // the identity links of the last line that had some
	links     *Links
	linksErr  error
}

// NewLines makes a Lines that answers as rt does.
func NewLines(rt *Router) *Lines {
	l := &Lines{router: rt}
	l.enc = json.NewEncoder(&l.out)
	l.enc.SetEscapeHTML(false)
	return l
}

// question is a line as it comes in. What is absent or null comes from the
// configuration.
type question struct {
	Agent      word               `json:"agent_id"`
	Context    *questionContext   `json:"context"`
	Dimensions []parley.Dimension `json:"dimensions"`
	Group      *bool              `json:"group_sessions_per_user"`
	Thread     *bool              `json:"thread_sessions_per_user"`
	Unified    *bool              `json:"unified"`
	Links      json.RawMessage    `json:"identity_links"`
	User       word               `json:"user"`
	Role       word               `json:"role"`
	Key        word               `json:"session_key"`
}

type questionContext struct {
	Channel   word `json:"channel"`
	Account   word `json:"account"`
	SpaceType word `json:"space_type"`
	SpaceID   word `json:"space_id"`
	ChatType  word `json:"chat_type"`
	ChatID    word `json:"chat_id"`
	TopicID   word `json:"topic_id"`
	SenderID  word `json:"sender_id"`
	SenderAlt word `json:"sender_id_alt"`
}

// word is a text, or a number as it is written: platforms have numbers for ids.
type word string

// UnmarshalJSON reads a text or a number; null is an empty text.
func (w *word) UnmarshalJSON(data []byte) error {
	switch c := data[0]; {
	case c == 'n':
		return nil
	case c == '-' || '0' <= c && c <= '9':
		*w = word(data)
		return nil
	case c != '"':
		return fmt.Errorf("%s is neither a text nor a number", quote(string(data)))
	}
	if inner := data[1 : len(data)-1]; bytes.IndexByte(inner, '\\') < 0 {
		*w = word(inner)
		return nil
	}
	return json.Unmarshal(data, (*string)(w))
}

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
	var q question
	l.reader.Reset(line)
	dec := json.NewDecoder(&l.reader)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return Request{}, unreadable(err)
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return Request{}, parley.Errorf(parley.CodeInvalid, "the line goes on after its JSON object: %s", quote(string(rest)))
	}
	if q.Context == nil {
		return Request{}, parley.Errorf(parley.CodeInvalid, "the line has no context")
	}
	links, err := l.linksOf(q.Links)
	if err != nil {
		return Request{}, err
	}
	c := q.Context
	return Request{
		Inbound: parley.Inbound{
			Channel: string(c.Channel), Account: string(c.Account),
			SpaceType: string(c.SpaceType), SpaceID: string(c.SpaceID),
			ChatType: string(c.ChatType), ChatID: string(c.ChatID), TopicID: string(c.TopicID),
			Sender: parley.Sender{ID: string(c.SenderID), AltID: string(c.SenderAlt)},
		},
		Agent: string(q.Agent), Key: string(q.Key), User: parley.UserID(q.User), Role: parley.Role(q.Role),
		Dimensions: q.Dimensions, GroupSessionsPerUser: q.Group, ThreadSessionsPerUser: q.Thread, Unified: q.Unified,
		Links: links, Explain: true,
	}, nil
}

// TooLong is the error for a line that is longer than [MaxLine].
func TooLong() error {
	return parley.Errorf(parley.CodeTooLarge, "the line is too long; at most %d bytes are allowed", MaxLine)
}

// unreadable says in words what a JSON decoder found.
func unreadable(err error) error {
	if typ, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := "the line"
		if typ.Field != "" {
			what = typ.Field
		}
		return parley.Errorf(parley.CodeInvalid, "%s cannot be a JSON %s", what, typ.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return parley.Errorf(parley.CodeInvalid, "the line ends before its JSON object does")
	}
	return parley.Errorf(parley.CodeInvalid, "the line cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// linksOf compiles the identity links of a line. Lines that follow each other
// mostly have the same.
func (l *Lines) linksOf(raw json.RawMessage) (*Links, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil, nil //nolint:nilnil // no links of its own
	}
	if l.linksText != nil && bytes.Equal(raw, l.linksText) {
		return l.links, l.linksErr
	}
	l.linksText = bytes.Clone(raw)
	l.links, l.linksErr = parseLinks(raw)
	return l.links, l.linksErr
}

func parseLinks(raw json.RawMessage) (*Links, error) {
	var given map[string][]word
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, parley.Errorf(parley.CodeInvalid, "identity_links must be an object of lists of ids: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	texts := make(map[string][]string, len(given))
	for name, ids := range maps.All(given) {
		for _, id := range ids {
			texts[name] = append(texts[name], string(id))
		}
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
	l.out.Reset()
	if err == nil {
		err = l.encode(&res)
	}
	if err != nil {
		return AppendError(dst, err), false
	}
	return append(dst, l.out.Bytes()...), true
}

// AppendError appends the line that stands for an error.
func AppendError(dst []byte, err error) []byte {
	message := err.Error()
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Message != "" {
		message = e.Message
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]any{"error": map[string]any{"code": parley.CodeOf(err), "message": message}}) // two texts: it cannot fail
	return append(dst, b.Bytes()...)
}

// answer is a resolution as it goes out.
type answer struct {
	Agent       string         `json:"agent_id"`
	Scope       answerScope    `json:"scope"`
	Signature   string         `json:"signature"`
	Key         parley.Key     `json:"session_key"`
	Aliases     []parley.Alias `json:"session_aliases"`
	MainKey     parley.Key     `json:"main_session_key"`
	MainAliases []parley.Alias `json:"main_aliases"`
	TextKey     string         `json:"text_key"`
	Shared      bool           `json:"shared"`
	Why         []string       `json:"why"`
}

type answerScope struct {
	Version    int                `json:"version"`
	Agent      string             `json:"agent_id"`
	Channel    string             `json:"channel"`
	Account    string             `json:"account"`
	Dimensions []parley.Dimension `json:"dimensions"`
	Values     answerValues       `json:"values"`
}

// answerValues has the values in a fixed order. None that is there is empty.
type answerValues struct {
	Space  string `json:"space,omitempty"`
	Chat   string `json:"chat,omitempty"`
	Topic  string `json:"topic,omitempty"`
	Sender string `json:"sender,omitempty"`
}

// encode writes an answer and a line break. Lists without entries are [].
func (l *Lines) encode(r *Resolution) error {
	a := answer{
		Agent: r.Agent, Signature: r.Signature, Key: r.Key, TextKey: r.TextKey, Shared: r.Shared,
		MainKey: r.MainKey, MainAliases: []parley.Alias{r.MainAlias},
		Aliases: list(r.Aliases), Why: list(r.Why),
		Scope: answerScope{
			Version: r.Scope.Version, Agent: r.Scope.Agent, Channel: r.Scope.Channel, Account: r.Scope.Account,
			Dimensions: list(r.Scope.Dimensions),
			Values: answerValues{
				Space: r.Scope.Values[parley.DimensionSpace], Chat: r.Scope.Values[parley.DimensionChat],
				Topic: r.Scope.Values[parley.DimensionTopic], Sender: r.Scope.Values[parley.DimensionSender],
			},
		},
	}
	return l.enc.Encode(&a) //nolint:gosec // a session's key is a name, not a secret
}

// list makes a list that is not null in JSON.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
