package main

import (
	"context"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/prompt"
)

// prompter gives a turn the prompt that its session keeps.
type prompter struct {
	in   *installation
	next *prompt.Prompter
}

func (in *installation) newPrompter(ctx context.Context) (*prompter, error) {
	key, err := in.opened.Store.Secret(ctx, "ids in prompts")
	if err != nil {
		return nil, err
	}
	// What it is given as the agent's name is the agent's text; see Prompt.
	next, err := prompt.New(prompt.Config{AgentFunc: func(text string) (string, error) { return text, nil }, Zone: in.zone(), IDKey: key})
	return &prompter{in, next}, err
}

// Prompt implements [parley.Prompter]. The text of the agent is that of the session,
// which is why it stands in the place of the name: agents of one name differ by
// session.
func (p *prompter) Prompt(ctx context.Context, c parley.PromptContext) (parley.Prompt, error) {
	c.Session.Agent.Name = p.in.systemOf(c.Session)
	return p.next.Prompt(ctx, c)
}

// systemOf gives the text of a session's system prompt. That of an agent which is gone
// is empty: its turns end before a model is asked.
func (in *installation) systemOf(session parley.Session) string {
	_, kept, err := in.current().of(session)
	if err != nil {
		return ""
	}
	return kept.System
}

// zone gives where times are told: the configured zone of resets, else the machine's.
func (in *installation) zone() *time.Location {
	// One that cannot be loaded was refused when the configuration was read.
	if zone, err := time.LoadLocation(in.started.Config.Session.Reset.Zone); err == nil && in.started.Config.Session.Reset.Zone != "" {
		return zone
	}
	return time.Local
}
