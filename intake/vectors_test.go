package intake_test

import (
	"strings"
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
	"github.com/parley-run/parley/internal/vectors"
)

// TestRoutingVectors: the rules of groups hold for what comes from a platform.
func TestRoutingVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		ID        string             `json:"id"`
		Session   parley.SessionType `json:"session_type"`
		Role      parley.Role        `json:"sender_role"`
		Mentioned *bool              `json:"mentioned"`
		Name      string             `json:"display_name"`
		Text      string             `json:"text"`
		Expected  struct {
			Triggered bool    `json:"triggered"`
			Logged    bool    `json:"logged"`
			Prompt    *string `json:"prompt"`
		} `json:"expected"`
	}
	for _, v := range vectors.Load[vector](t, "routing.json") {
		if v.Text == "" {
			continue // no platform brings a message without anything in it
		}
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, settings{door: access.DoorPublic})
			sender := "1" // the owner
			if v.Role != parley.RoleOwner {
				sender = "2"
			}
			if v.Role == parley.RoleUser {
				w.user("telegram:2", "Bob", parley.RoleUser)
			}
			// An adapter that cannot tell says that the agent was mentioned.
			m := inGroup("10", sender, v.Text, v.Mentioned == nil || *v.Mentioned)
			if v.Session == "" {
				v.Session = parley.SessionDirect
			}
			if v.Session == parley.SessionDirect {
				m.ChatType, m.ChatID = "direct", sender
			}
			m.Sender.Name = v.Name
			w.receive(m)
			s := w.session()
			want := parley.InputLogged
			if v.Expected.Triggered {
				want = parley.InputQueued
			}
			if got := w.inputs(s.ID)["10"]; got != want || s.Type != v.Session {
				t.Errorf("got %s in a session of type %s", got, s.Type)
			}
			if !v.Expected.Triggered {
				return
			}
			w.later()
			got := w.said(s.ID, 1)
			if v.Name == "" { // then the engine introduces who speaks
				if len(got) != 1 || !strings.HasSuffix(got[0], *v.Expected.Prompt) {
					t.Errorf("got %q, want %q at its end", got, *v.Expected.Prompt)
				}
				return
			}
			if len(got) != 1 || got[0] != "re: "+*v.Expected.Prompt {
				t.Errorf("got %q, want %q", got, *v.Expected.Prompt)
			}
		})
	}
}
