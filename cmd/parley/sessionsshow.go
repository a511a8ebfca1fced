package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

func (a *app) sessionsShowCommand() *cobra.Command {
	var count int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a conversation and what was said last",
		Example: `  parley sessions show 5f0c
  parley sessions show 5f0c --messages 200 | less`,
		Args: takes(aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			if count < 0 {
				return &usageError{"--messages must be 0 or more"}
			}
			return a.sessionsShow(cmd.Context(), args[0], count, asJSON)
		},
	}
	cmd.Flags().IntVarP(&count, "messages", "n", 10, "how many messages, from the end")
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

func (a *app) sessionsShow(ctx context.Context, text string, count int, asJSON bool) error {
	var session parley.Session
	var people []parley.Identity
	var messages []client.LoggedMessage
	err := a.onSession(ctx, text, func(d desk, s parley.Session) (err error) {
		session = s
		if people, err = d.Participants(ctx, s.ID); err != nil {
			return err
		}
		messages, err = lastMessages(ctx, d, s.ID, count)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		out := struct {
			Session      sessionJSON       `json:"session"`
			Participants []parley.Identity `json:"participants"`
			Messages     []messageJSON     `json:"messages"`
		}{jsonSession(session), append([]parley.Identity{}, people...), make([]messageJSON, 0, len(messages))}
		for i := range messages {
			out.Messages = append(out.Messages, jsonMessage(&messages[i]))
		}
		return a.printJSON(out)
	}
	var b strings.Builder
	b.WriteString(sessionText(session, people, time.Now()))
	for i := range messages {
		b.WriteString(messageText(&messages[i], session.Agent.Name))
	}
	return a.printText(b.String())
}

// lastMessages gives so many messages, oldest first.
func lastMessages(ctx context.Context, d sessionReader, id parley.SessionID, count int) ([]client.LoggedMessage, error) {
	var all []client.LoggedMessage
	cursor := ""
	for len(all) < count {
		page, err := d.Messages(ctx, id, cursor, min(count-len(all), parley.MaxPageSize))
		if err != nil {
			return nil, err
		}
		all = append(page.Messages, all...)
		if cursor = page.Cursor; cursor == "" {
			break
		}
	}
	return all, nil
}

// sessionText is a session for people.
func sessionText(s parley.Session, people []parley.Identity, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", cell(titleOf(s)))
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-9s%s\n", name, cell(value))
		}
	}
	row("id", string(s.ID))
	row("status", statusText(s))
	row("agent", s.Agent.Name+", in a "+string(s.Type)+" conversation from "+cmp.Or(s.Source.Platform, s.Source.Kind))
	row("used", fmt.Sprintf("%s (%s), begun %s", instant(s.UpdatedAt), age(s.UpdatedAt, now), instant(s.CreatedAt)))
	row("so far", fmt.Sprintf("%s in %s; %s", counted(s.Counters.Messages, "message"), counted(s.Counters.Turns, "turn"), usageText(s.Counters.Usage)))
	row("about", s.Description)
	row("people", peopleText(people))
	row("key", string(s.Key))
	if s.Parent != nil {
		row("fork of", fmt.Sprintf("%s, at event %d", s.Parent.Session, s.Parent.Seq))
	}
	return b.String()
}

func statusText(s parley.Session) string {
	text := statusWord(s)
	if s.Ended != nil {
		text += fmt.Sprintf(" on %s (%s)", instant(s.Ended.At), s.Ended.Reason)
	}
	if s.Queued > 0 {
		text += ", " + counted(int64(s.Queued), "message") + " waiting"
	}
	if s.Recovery.State != parley.RecoveryNone && s.Recovery.Reason != "" {
		text += " (" + s.Recovery.Reason + ")"
	}
	return text
}

// mostPeople is how many are named.
const mostPeople = 10

func peopleText(people []parley.Identity) string {
	var names []string
	for i, p := range people {
		if i == mostPeople {
			names = append(names, fmt.Sprintf("and %d more", len(people)-i))
			break
		}
		name := string(p.ID)
		if p.Name != "" {
			name += " (" + p.Name + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// messageText is a message for people: who said it and when, and what. One that is for
// the model alone they are not shown.
func messageText(m *client.LoggedMessage, agent string) string {
	content := contentText(m)
	if content == "" {
		return ""
	}
	return fmt.Sprintf("\n#%d  %s  %s\n", m.Seq, instant(m.At), cell(speaker(m, agent))) + indented(content)
}

// speaker is who said something.
func speaker(m *client.LoggedMessage, agent string) string {
	switch m.Message.Role {
	case parley.MessageUser:
		if m.Message.Sender != nil {
			return cmp.Or(m.Message.Sender.Name, m.Message.Sender.ID, string(m.Identity))
		}
		return cmp.Or(string(m.Identity), "somebody")
	case parley.MessageAssistant:
		if m.Message.Model != "" {
			return agent + " (" + m.Message.Model + ")"
		}
		return agent
	case "":
		return cmp.Or(string(m.Identity), "somebody")
	}
	return string(m.Message.Role)
}

// contentText is what was said, with what is no text named.
func contentText(m *client.LoggedMessage) string {
	if m.Redacted {
		return "(taken away)"
	}
	var lines []string
	for _, p := range m.Message.Parts {
		switch {
		case p.Note || p.Kind == parley.PartReasoning:
		case p.Call != nil:
			lines = append(lines, "-> "+p.Call.Name+" "+short(string(p.Call.Arguments), longestRow))
		case p.Result != nil:
			lines = append(lines, "<- "+short(p.Result.Text, longestRow))
		case p.Media != nil:
			lines = append(lines, fmt.Sprintf("[%s %s, %s]", p.Media.Type, p.Media.Name, sized(p.Media.Size)))
		default:
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// indented writes a text of others' making under what it belongs to.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(harmless(text), "\n") + "\n") {
		b.WriteString(strings.TrimRight("    "+line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// messageJSON is a message as the API shows it.
type messageJSON struct {
	Seq        uint64             `json:"seq"`
	Turn       parley.TurnID      `json:"turn_id,omitempty"`
	At         time.Time          `json:"at"`
	Identity   parley.IdentityID  `json:"identity,omitempty"`
	Redacted   bool               `json:"redacted,omitempty"`
	ID         string             `json:"id,omitempty"`
	Role       parley.MessageRole `json:"role,omitempty"`
	Parts      []parley.Part      `json:"parts"`
	Inputs     []string           `json:"input_ids,omitempty"`
	Model      string             `json:"model,omitempty"`
	Sender     *parley.Sender     `json:"sender,omitempty"`
	Undirected bool               `json:"undirected,omitempty"`
	Hidden     bool               `json:"hidden,omitempty"`
}

func jsonMessage(m *client.LoggedMessage) messageJSON {
	out := messageJSON{
		Seq: m.Seq, Turn: m.Turn, At: m.At.UTC(), Identity: m.Identity, Redacted: m.Redacted, ID: m.Message.ID, Role: m.Message.Role,
		Parts: append([]parley.Part{}, m.Message.Parts...), Model: m.Message.Model, Sender: m.Message.Sender,
		Undirected: m.Message.Undirected, Hidden: m.Message.Hidden,
	}
	for _, ref := range m.Message.Inputs {
		out.Inputs = append(out.Inputs, ref.ID)
	}
	return out
}
