package group_test

import (
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
	"github.com/parley-run/parley/internal/vectors"
)

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
			Triggered bool       `json:"triggered"`
			Logged    bool       `json:"logged"`
			Prefix    *string    `json:"prefix"`
			Prompt    *string    `json:"prompt"`
			Mode      group.Mode `json:"mode"`
		} `json:"expected"`
	}
	for _, v := range vectors.Load[vector](t, "routing.json") {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			a := group.Arrival{Session: v.Session, Role: v.Role, Mentioned: v.Mentioned}
			got := group.Decide(a, group.Config{})
			if got.Mode != v.Expected.Mode {
				t.Errorf("got %s (%s), want %s", got.Mode, got.Reason, v.Expected.Mode)
			}
			if triggered := got.Mode == group.ModeTurn; triggered != v.Expected.Triggered {
				t.Errorf("triggered: got %t, want %t", triggered, v.Expected.Triggered)
			}
			if logged := got.Mode != group.ModeIgnore; logged != v.Expected.Logged {
				t.Errorf("logged: got %t, want %t", logged, v.Expected.Logged)
			}
			if v.Expected.Prefix == nil {
				return // no turn, so no prompt
			}
			prefix := group.Prefix(v.Session, parley.Sender{Name: v.Name}, a.Directed())
			if prefix != *v.Expected.Prefix || prefix+v.Text != *v.Expected.Prompt {
				t.Errorf("got prefix %q and prompt %q, want %q and %q", prefix, prefix+v.Text, *v.Expected.Prefix, *v.Expected.Prompt)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const direct, chat = parley.SessionDirect, parley.SessionGroup
	no, yes := new(false), new(true)
	strict := group.Config{OwnersMention: true}
	tests := []struct {
		name    string
		arrival group.Arrival
		cfg     group.Config
		mode    group.Mode
		reason  group.Reason
	}{
		{"direct", group.Arrival{Session: direct, Mentioned: no}, group.Config{}, group.ModeTurn, group.ReasonDirect},
		{"no type", group.Arrival{Mentioned: no}, group.Config{}, group.ModeTurn, group.ReasonDirect},
		{"a type nobody knows", group.Arrival{Session: "stage", Mentioned: no}, group.Config{}, group.ModeStore, group.ReasonNotMentioned},
		{"owner", group.Arrival{Session: chat, Role: parley.RoleOwner, Mentioned: no}, group.Config{}, group.ModeTurn, group.ReasonOwner},
		{"owner who mentions", group.Arrival{Session: chat, Role: parley.RoleOwner, Mentioned: yes}, group.Config{}, group.ModeTurn, group.ReasonMentioned},
		{"owner who has to mention", group.Arrival{Session: chat, Role: parley.RoleOwner, Mentioned: no}, strict, group.ModeStore, group.ReasonNotMentioned},
		{"owner who has to mention, and does", group.Arrival{Session: chat, Role: parley.RoleOwner, Mentioned: yes}, strict, group.ModeTurn, group.ReasonMentioned},
		{"owner who has to mention, nobody can tell", group.Arrival{Session: chat, Role: parley.RoleOwner}, strict, group.ModeTurn, group.ReasonMentioned},
		{"owner who has to mention, direct", group.Arrival{Session: direct, Role: parley.RoleOwner, Mentioned: no}, strict, group.ModeTurn, group.ReasonDirect},
		{"user", group.Arrival{Session: chat, Role: parley.RoleUser, Mentioned: no}, group.Config{}, group.ModeStore, group.ReasonNotMentioned},
		{"nobody", group.Arrival{Session: chat, Mentioned: no}, group.Config{}, group.ModeStore, group.ReasonNotMentioned},

		{"bot", group.Arrival{Session: chat, Bot: true, Mentioned: yes}, group.Config{}, group.ModeStore, group.ReasonBot},
		{"bot, direct", group.Arrival{Session: direct, Bot: true}, group.Config{}, group.ModeStore, group.ReasonBot},
		{"bot of an owner", group.Arrival{Session: chat, Bot: true, Role: parley.RoleOwner, Mentioned: yes}, group.Config{}, group.ModeStore, group.ReasonBot},
		{"bot that may", group.Arrival{Session: chat, Bot: true, Mentioned: yes, AllowBots: true}, group.Config{}, group.ModeTurn, group.ReasonMentioned},
		{"bot that may, direct", group.Arrival{Session: direct, Bot: true, AllowBots: true}, group.Config{}, group.ModeTurn, group.ReasonDirect},
		{"bot that may, not mentioned", group.Arrival{Session: chat, Bot: true, Mentioned: no, AllowBots: true}, group.Config{}, group.ModeStore, group.ReasonNotMentioned},
		{
			"bot of an owner that may, not mentioned",
			group.Arrival{Session: chat, Bot: true, Role: parley.RoleOwner, Mentioned: no, AllowBots: true},
			group.Config{},
			group.ModeStore, group.ReasonNotMentioned,
		},
		{"ourselves", group.Arrival{Session: chat, Self: true, Mentioned: yes}, group.Config{}, group.ModeIgnore, group.ReasonSelf},
		{"ourselves, direct", group.Arrival{Session: direct, Self: true}, group.Config{}, group.ModeIgnore, group.ReasonSelf},
		{"ourselves where bots may", group.Arrival{Session: chat, Self: true, Bot: true, Mentioned: yes, AllowBots: true}, group.Config{}, group.ModeIgnore, group.ReasonSelf},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := group.Decide(test.arrival, test.cfg)
			if got.Mode != test.mode || got.Reason != test.reason {
				t.Errorf("got %s (%s), want %s (%s)", got.Mode, got.Reason, test.mode, test.reason)
			}
			if got.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}
