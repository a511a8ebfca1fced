package httpapi

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/parley-run/parley"
)

// sessionView is a session as clients see it. The agent's frozen configuration is
// not among it.
type sessionView struct {
	ID          parley.SessionID   `json:"id"`
	Key         parley.Key         `json:"key,omitempty" jsonschema:"the canonical name of the conversation; none: no scope leads to it"`
	Agent       string             `json:"agent"`
	Source      parley.Source      `json:"source" jsonschema:"where it was started, for good"`
	Type        parley.SessionType `json:"type"`
	Status      parley.Status      `json:"status"`
	Ended       *parley.Ending     `json:"ended,omitempty" jsonschema:"when and why it stopped being its key's current session"`
	Recovery    parley.Recovery    `json:"recovery"`
	Queued      int                `json:"queued" jsonschema:"how many messages wait"`
	LastSeq     uint64             `json:"last_seq"`
	Counters    parley.Counters    `json:"counters"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Preview     string             `json:"preview" jsonschema:"a line of the last message"`
	Busy        parley.BusyMode    `json:"busy,omitempty" jsonschema:"what happens to messages during a turn; none: as the configuration says"`
	Metadata    map[string]string  `json:"metadata"`
	Parent      *parley.ForkPoint  `json:"parent,omitempty"`
	CreatedAt   time.Time          `json:"created_at"`
	UpdatedAt   time.Time          `json:"updated_at" jsonschema:"the last activity"`
}

func viewSession(s parley.Session) sessionView {
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	return sessionView{
		ID: s.ID, Key: s.Key, Agent: s.Agent.Name, Source: s.Source, Type: s.Type, Status: s.Status, Ended: s.Ended,
		Recovery: s.Recovery, Queued: s.Queued, LastSeq: s.LastSeq, Counters: s.Counters, Title: s.Title.Text,
		Description: s.Description, Preview: s.Preview, Busy: s.Busy, Metadata: s.Metadata, Parent: s.Parent,
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
	}
}

type sessionOut struct {
	Session sessionView `json:"session"`
}

type sessionIn struct {
	ID parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
}

// messageView is a message as clients see it.
type messageView struct {
	ID         string             `json:"id"`
	Role       parley.MessageRole `json:"role"`
	Parts      []parley.Part      `json:"parts"`
	Inputs     []string           `json:"input_ids,omitempty" jsonschema:"the inputs it shows to the model, or answers"`
	Model      string             `json:"model,omitempty" jsonschema:"which model answered"`
	Sender     *parley.Sender     `json:"sender,omitempty" jsonschema:"who wrote it, where several people can"`
	Undirected bool               `json:"undirected,omitempty" jsonschema:"it was not meant for the agent, in a group"`
	Hidden     bool               `json:"hidden,omitempty" jsonschema:"for people alone; models are not shown it"`
}

func viewMessage(m *parley.Message) messageView {
	parts := m.Parts
	if parts == nil {
		parts = []parley.Part{}
	}
	return messageView{
		ID: m.ID, Role: m.Role, Parts: parts, Inputs: inputIDs(m.Inputs), Model: m.Model, Sender: m.Sender,
		Undirected: m.Undirected, Hidden: m.Hidden,
	}
}

func inputIDs(refs []parley.InputRef) []string {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return ids
}

// senderView is an account that a request speaks for.
type senderView struct {
	Channel string `json:"channel"`
	ID      string `json:"id"`
	AltID   string `json:"alt_id,omitempty" jsonschema:"a stable id, where the platform's own changes"`
	Name    string `json:"name,omitempty" jsonschema:"what the platform calls them"`
	Bot     bool   `json:"bot,omitempty"`
}

func (s *senderView) sender() parley.Sender {
	return parley.Sender{ID: s.ID, AltID: s.AltID, Name: s.Name, Bot: s.Bot}
}

// sourceView is where a session starts: an object, or its kind alone.
type sourceView struct {
	Kind        string `json:"kind" jsonschema:"cli, web, api, channel …"`
	Platform    string `json:"platform,omitempty"`
	Interactive *bool  `json:"interactive,omitempty" jsonschema:"whether a person is there to answer questions; true if it is not given"`
	Trigger     string `json:"trigger,omitempty"`
}

// UnmarshalJSON takes the kind alone as well.
func (s *sourceView) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &s.Kind)
	}
	type plain sourceView // without this method
	return decodeJSON(data, reflect.ValueOf((*plain)(s)).Elem())
}

func (s *sourceView) source() parley.Source {
	if s == nil {
		return parley.Source{Kind: "api", Interactive: true}
	}
	source := parley.Source{Kind: s.Kind, Platform: s.Platform, Interactive: true, Trigger: s.Trigger}
	if s.Interactive != nil {
		source.Interactive = *s.Interactive
	}
	return source
}
