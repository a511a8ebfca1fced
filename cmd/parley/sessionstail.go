package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/client"
)

func (a *app) sessionsTailCommand() *cobra.Command {
	var count int
	var follow, asJSON bool
	cmd := &cobra.Command{
		Use:   "tail ID",
		Short: "Show the last events of a conversation, and those that come",
		Long: `Tail prints the last events of a session, one per line. With --follow it goes on
with what happens, until you stop it (Ctrl-C); that needs a daemon.`,
		Example: `  parley sessions tail 5f0c
  parley sessions tail 5f0c --follow
  parley sessions tail 5f0c -n 1000 --json | jq .type`,
		Args: takes(aSession),
		RunE: func(cmd *cobra.Command, args []string) error {
			if count < 0 {
				return &usageError{"--events must be 0 or more"}
			}
			return a.sessionsTail(cmd.Context(), args[0], count, follow, asJSON)
		},
	}
	cmd.Flags().IntVarP(&count, "events", "n", 20, "how many, from the end")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each event as a line of JSON")
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

func (a *app) sessionsTail(ctx context.Context, text string, count int, follow, asJSON bool) error {
	show := func(e *parley.Event) error { return a.printText(eventText(e, a.columns)) }
	if asJSON {
		show = func(e *parley.Event) error {
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			return a.printText(string(line) + "\n")
		}
	}
	return a.onSession(ctx, text, func(d desk, s parley.Session) error {
		if _, local := d.(*localDesk); local && follow {
			return parley.Errorf(parley.CodeUnavailable, "nothing happens while no daemon runs; start one with 'parley serve', or leave --follow out")
		}
		last := s.LastSeq
		for after := last - min(last, uint64(count)); after < last; {
			events, err := d.Log(ctx, s.ID, after, int(min(last-after, parley.MaxPageSize)))
			if err != nil {
				return err
			}
			for i := range events {
				if err := show(&events[i]); err != nil {
					return err
				}
				after = events[i].Seq
			}
			if len(events) == 0 {
				break // it is gone, or was never so long
			}
		}
		if !follow {
			return nil
		}
		return followEvents(ctx, d, s.ID, last, show)
	})
}

// followEvents shows what happens in a session, until ctx ends.
func followEvents(ctx context.Context, d sessionReader, id parley.SessionID, after uint64, show func(*parley.Event) error) error {
	for u, err := range d.Events(ctx, id, parley.Position{Seq: after}) {
		switch {
		case err != nil:
			return err
		case u.Resync != "":
			return parley.Errorf(parley.CodeUnavailable, "the store is not the one it was; look at the session again")
		case u.Event == nil:
			continue
		}
		if err := show(u.Event); err != nil {
			return err
		}
	}
	return nil
}

// eventText is an event on a line.
func eventText(e *parley.Event, columns int) string {
	what := strings.TrimPrefix(string(e.Type), "session:")
	line := fmt.Sprintf("#%d  %s  %-14s  %s", e.Seq, e.At.Local().Format(time.TimeOnly), cell(what), cell(eventWords(e)))
	if columns > 0 {
		line = cutWidth(line, columns)
	}
	return strings.TrimRight(line, " ") + "\n"
}

// eventWords say what happened.
func eventWords(e *parley.Event) string {
	body, err := e.Decode()
	if err != nil {
		return "(it cannot be read)"
	}
	switch b := body.(type) {
	case *parley.Tombstone:
		return "(taken away)"
	case *parley.Message:
		m := client.LoggedMessage{Identity: e.Identity, Message: *b}
		content := contentText(&m)
		if content == "" {
			return "(for the model alone)"
		}
		return speaker(&m, "agent") + ": " + content
	case *parley.Admitted:
		return cmp.Or(b.Sender.Name, string(e.Identity)) + ": " + parley.PlainText(b.Parts)
	case *parley.Started:
		return "agent " + b.Agent + ", from " + b.Source.Kind
	case *parley.TurnStarted:
		if b.Attempt > 1 {
			return "again, for the " + strconv.Itoa(b.Attempt) + ". time"
		}
		return ""
	case *parley.ToolStarted:
		return b.Tool
	case *parley.ToolCompleted:
		return b.Tool + ": " + string(b.State)
	case *parley.ApprovalRequested:
		return b.Tool + "; at " + b.Deadline.Local().Format(time.TimeOnly) + " it is " + string(b.Default)
	case *parley.ApprovalResolved:
		return string(b.State)
	case *parley.TurnCompleted:
		text := string(b.StopReason) + "; " + usageText(b.Usage)
		if b.Error != nil {
			text += "; " + b.Error.Code + ": " + b.Error.Message
		}
		return text
	case *parley.Updated:
		return strings.Join(b.Fields, ", ")
	}
	return string(e.Data)
}
