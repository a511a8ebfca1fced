package client

import (
	"time"

	"github.com/parley-run/parley"
)

// sessionView is a session as the API shows it.
type sessionView struct {
	ID          parley.SessionID   `json:"id"`
	Key         parley.Key         `json:"key"`
	Agent       string             `json:"agent"`
	Source      parley.Source      `json:"source"`
	Type        parley.SessionType `json:"type"`
	Status      parley.Status      `json:"status"`
	Ended       *parley.Ending     `json:"ended"`
	Recovery    parley.Recovery    `json:"recovery"`
	Queued      int                `json:"queued"`
	LastSeq     uint64             `json:"last_seq"`
	Counters    parley.Counters    `json:"counters"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Preview     string             `json:"preview"`
	Busy        parley.BusyMode    `json:"busy"`
	Metadata    map[string]string  `json:"metadata"`
	Parent      *parley.ForkPoint  `json:"parent"`
	CreatedAt   time.Time          `json:"created_at"`
	UpdatedAt   time.Time          `json:"updated_at"`
}

// session gives the session; what the API does not show of it is empty.
func (v *sessionView) session() parley.Session {
	return parley.Session{
		ID: v.ID, Key: v.Key, Agent: parley.AgentSnapshot{Name: v.Agent}, Source: v.Source, Type: v.Type, Status: v.Status,
		Ended: v.Ended, Recovery: v.Recovery, Queued: v.Queued, LastSeq: v.LastSeq, Counters: v.Counters,
		Title: parley.Title{Text: v.Title}, Description: v.Description, Preview: v.Preview, Busy: v.Busy, Metadata: v.Metadata,
		Parent: v.Parent, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
}

type sessionOut struct {
	Session sessionView `json:"session"`
}

// messageView is a message as the API shows it.
type messageView struct {
	ID         string             `json:"id"`
	Role       parley.MessageRole `json:"role"`
	Parts      []parley.Part      `json:"parts"`
	Inputs     []string           `json:"input_ids"`
	Model      string             `json:"model"`
	Sender     *parley.Sender     `json:"sender"`
	Undirected bool               `json:"undirected"`
	Hidden     bool               `json:"hidden"`
}

func (v *messageView) message() parley.Message {
	return parley.Message{
		ID: v.ID, Role: v.Role, Parts: v.Parts, Inputs: inputRefs(v.Inputs), Model: v.Model, Sender: v.Sender,
		Undirected: v.Undirected, Hidden: v.Hidden,
	}
}

// Sender is an account that a request speaks for, with the credential of a
// channel.
type Sender struct {
	Channel string `json:"channel"`
	ID      string `json:"id"`
	AltID   string `json:"alt_id,omitempty"` // a stable id, where the platform's own changes
	Name    string `json:"name,omitempty"`
	Bot     bool   `json:"bot,omitempty"`
}
