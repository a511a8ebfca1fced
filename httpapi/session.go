package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/engine"
)

func (s *Server) sessionRoutes() {
	add(s, onSession(access.OpOpen), endpoint[openIn, sessionOut]{
		method: http.MethodPost, path: "/api/sessions", name: "openSession",
		summary: "Open a conversation: by session_id, by key (or alias), by context (where a message came from), or, with none of them, a session of its own. What is there keeps its source, and metadata is merged into it.",
		also:    map[int]string{http.StatusCreated: "the session was made"}, do: (*call).open,
	})
	add(s, signedIn, endpoint[listIn, listOut]{
		method: http.MethodGet, path: "/api/sessions", name: "listSessions",
		summary: "The sessions that the caller sees, the most recently active first. A page may be short while its cursor goes on.", do: (*call).list,
	})
	add(s, onSession(access.OpRead), endpoint[sessionIn, sessionOut]{
		method: http.MethodGet, path: "/api/sessions/{id}", name: "readSession", summary: "One session, with an ETag.",
		also: map[int]string{http.StatusNotModified: "it is still as If-None-Match says"}, do: (*call).session,
	})
	add(s, onSession(access.OpPatch), endpoint[patchIn, sessionOut]{
		method: http.MethodPatch, path: "/api/sessions/{id}", name: "patchSession",
		summary: "Change what is given. Metadata is merged; an empty value removes its name.", do: (*call).patch,
	})
	add(s, onSession(access.OpDelete), endpoint[deleteIn, deleteOut]{
		method: http.MethodDelete, path: "/api/sessions/{id}", name: "deleteSession",
		summary: "Remove a session for good. It is a conflict while a turn runs or waits for approval, and for a group's session, which an owner removes with purge.", do: (*call).deleteSession,
	})
}

// openIn asks for a conversation.
type openIn struct {
	ID       parley.SessionID  `json:"session_id,omitempty" jsonschema:"<namespace>:<name>, such as cli:work"`
	Key      string            `json:"key,omitempty" jsonschema:"a key, an alias, or a name of your own"`
	Context  *contextView      `json:"context,omitempty" jsonschema:"where a message came from"`
	Agent    string            `json:"agent,omitempty" jsonschema:"who answers in a session that is made; the configured one if it is not given"`
	Source   *sourceView       `json:"source,omitempty" jsonschema:"where a session is started that is made: an object, or its kind alone"`
	Title    string            `json:"title,omitempty" jsonschema:"of a session that is made"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Sender   *senderView       `json:"sender,omitempty" jsonschema:"who asks, for credentials of channels"`
}

// contextView is where a message came from, as a surface names it.
type contextView struct {
	Channel     string `json:"channel"`
	Account     string `json:"account,omitempty"`
	SpaceType   string `json:"space_type,omitempty"`
	SpaceID     string `json:"space_id,omitempty"`
	ChatType    string `json:"chat_type,omitempty"`
	ChatID      string `json:"chat_id,omitempty"`
	ChatName    string `json:"chat_name,omitempty"`
	TopicID     string `json:"topic_id,omitempty"`
	ParentChat  string `json:"parent_chat_id,omitempty"`
	SenderID    string `json:"sender_id,omitempty"`
	SenderIDAlt string `json:"sender_id_alt,omitempty"`
	SenderName  string `json:"sender_name,omitempty"`
}

func (c *contextView) inbound() parley.Inbound {
	return parley.Inbound{
		Channel: c.Channel, Account: c.Account, SpaceType: c.SpaceType, SpaceID: c.SpaceID, ChatType: c.ChatType, ChatID: c.ChatID,
		ChatName: c.ChatName, TopicID: c.TopicID, ParentChat: c.ParentChat,
		Sender: parley.Sender{ID: c.SenderID, AltID: c.SenderIDAlt, Name: c.SenderName},
	}
}

// open opens a conversation.
func (c *call) open(in *openIn) (sessionOut, error) {
	if err := in.check(); err != nil {
		return sessionOut{}, err
	}
	o, err := c.opening(in)
	if err != nil {
		return sessionOut{}, err
	}
	opened, err := c.handle().Open(c.r.Context(), o)
	if err != nil {
		return sessionOut{}, err
	}
	if opened.Created {
		c.status = http.StatusCreated
		c.w.Header().Set("Location", c.cfg.Prefix+"/api/sessions/"+string(opened.Session.ID))
	}
	return sessionOut{Session: viewSession(opened.Session)}, nil
}

func (in *openIn) check() error {
	given := 0
	for _, b := range []bool{in.ID != "", in.Key != "", in.Context != nil} {
		if b {
			given++
		}
	}
	if given > 1 {
		return invalidf("give one of session_id, key and context, or none of them")
	}
	if in.Source != nil && in.Source.Kind == "" {
		return invalidf("source.kind is missing")
	}
	for _, name := range slices.Sorted(maps.Keys(in.Metadata)) {
		if strings.HasPrefix(name, "parley.") {
			return invalidf("metadata.%s is set by the runtime; names that begin with parley. are its own", name)
		}
	}
	return nil
}

// list filters.
type listIn struct {
	Status          parley.Status     `query:"status" json:"-" jsonschema:"idle, running, awaiting_approval or inactive"`
	Source          string            `query:"source" json:"-" jsonschema:"the kind of the source"`
	Channel         string            `query:"channel" json:"-" jsonschema:"what the id begins with, before the colon"`
	Agent           string            `query:"agent" json:"-"`
	Key             parley.Key        `query:"key" json:"-"`
	ActiveSince     time.Time         `query:"active_since" json:"-"`
	Metadata        map[string]string `query:"metadata.*" json:"-" jsonschema:"metadata.K=V: sessions whose metadata K is V"`
	IncludeInactive bool              `query:"include_inactive" json:"-" jsonschema:"also those that a reset replaced, or that nobody used for long"`
	Limit           int               `query:"limit" json:"-" jsonschema:"how many at most; 50 if it is not given, never more than 1000"`
	Cursor          string            `query:"cursor" json:"-" jsonschema:"that of the page before"`
}

type listOut struct {
	Sessions []sessionView `json:"sessions"`
	Cursor   string        `json:"cursor" jsonschema:"where the next page begins; empty: there is none"`
}

// list gives a page of sessions.
func (c *call) list(in *listIn) (listOut, error) {
	switch in.Status {
	case "", parley.StatusIdle, parley.StatusRunning, parley.StatusAwaitingApproval, parley.StatusInactive:
	default:
		return listOut{}, invalidf("status must be idle, running, awaiting_approval or inactive, not %q", cut(string(in.Status)))
	}
	if _, err := access.VisibleIn(c.cred.Caller, in.Channel); err != nil {
		return listOut{}, err
	}
	at, err := readCursor("sessions", "", in.Cursor)
	if err != nil {
		return listOut{}, err
	}
	page, err := c.handle().Sessions(c.r.Context(), parley.SessionQuery{
		Status: in.Status, Source: in.Source, Agent: in.Agent, Key: in.Key, ActiveSince: in.ActiveSince, Metadata: in.Metadata,
		IncludeInactive: in.IncludeInactive || in.Status == parley.StatusInactive, Limit: in.Limit, Cursor: at,
	})
	if err != nil {
		return listOut{}, err
	}
	out := listOut{Sessions: make([]sessionView, 0, len(page.Sessions))}
	for _, s := range page.Sessions {
		if in.Channel == "" || s.ID.Namespace() == in.Channel {
			out.Sessions = append(out.Sessions, viewSession(s))
		}
	}
	if page.Cursor != "" {
		out.Cursor = cursorOf("sessions", "", page.Cursor)
	}
	return out, nil
}

// session gives one session, unless the client has it as it is.
func (c *call) session(in *sessionIn) (sessionOut, error) {
	s, err := c.handle().Session(c.r.Context(), in.ID)
	if err != nil {
		return sessionOut{}, err
	}
	out := sessionOut{Session: viewSession(s)}
	data, err := encode(out)
	if err != nil {
		return sessionOut{}, err
	}
	sum := sha256.Sum256(data)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	c.w.Header().Set("ETag", tag)
	c.w.Header().Set("Cache-Control", "private, no-cache")
	if matches(c.r.Header.Values("If-None-Match"), tag) {
		c.status = http.StatusNotModified
	}
	return out, nil
}

// matches reports whether a tag is among those of If-None-Match.
func matches(headers []string, tag string) bool {
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

type patchIn struct {
	ID          parley.SessionID  `path:"id" json:"-" jsonschema:"the session"`
	Title       *string           `json:"title,omitempty"`
	Description *string           `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Busy        *parley.BusyMode  `json:"busy,omitempty" jsonschema:"what happens to messages during a turn; empty: as the configuration says"`
}

func (c *call) patch(in *patchIn) (sessionOut, error) {
	s, err := c.handle().Patch(c.r.Context(), in.ID, engine.Changes{
		Title: in.Title, Description: in.Description, Metadata: in.Metadata, Busy: in.Busy,
	})
	return sessionOut{Session: viewSession(s)}, err
}

type deleteIn struct {
	ID    parley.SessionID `path:"id" json:"-" jsonschema:"the session"`
	Purge bool             `query:"purge" json:"-" jsonschema:"remove it also if it is a group's; for owners"`
}

type deleteOut struct {
	Deleted bool `json:"deleted"`
}

func (c *call) deleteSession(in *deleteIn) (deleteOut, error) {
	err := c.handle().Delete(c.r.Context(), in.ID, in.Purge)
	return deleteOut{Deleted: err == nil}, err
}
