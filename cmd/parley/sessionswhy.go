package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/route"
)

func (a *app) sessionsWhyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Say which messages land in a conversation, and why",
		Long: `Why explains from what is stored which messages land in a session: the scope that
its key stands for, other names that lead there, and who takes part.

It only reads the store, also beside a daemon. What a message would do that has not
come yet, parley resolve says.`,
		Example: `  parley sessions why 5f0c`,
		Args:    takes(aSession),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.sessionsWhy(cmd.Context(), args[0], asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

// reasons are why messages land in a session.
type reasons struct {
	Session      parley.SessionID    `json:"session_id"`
	Key          parley.Key          `json:"key,omitempty"`
	Current      parley.SessionID    `json:"current,omitempty"` // the session that the key leads to
	Scope        *parley.Scope       `json:"scope,omitempty"`
	Signature    string              `json:"signature,omitempty"`
	Aliases      []parley.Alias      `json:"aliases"`
	Participants []parley.IdentityID `json:"participants"`
	Why          []string            `json:"why"`
}

func (a *app) sessionsWhy(ctx context.Context, text string, asJSON bool) (err error) {
	if err := a.mustHaveStore(ctx); err != nil {
		return err
	}
	f, err := a.dataFolder(ctx)
	if err != nil {
		return err
	}
	o, err := f.Open(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	s, err := findSession(ctx, ownersView{o.Store}, text)
	if err != nil {
		return err
	}
	r, err := reasonsOf(ctx, o.Store, s)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", s.ID, cell(titleOf(s)))
	for _, line := range r.Why {
		fmt.Fprintf(&b, "  - %s\n", cell(line))
	}
	return a.printText(b.String())
}

// ownersView is a store as an owner sees it.
type ownersView struct{ parley.SessionReader }

func (v ownersView) Session(ctx context.Context, id parley.SessionID) (parley.Session, error) {
	return v.SessionReader.Session(ctx, parley.SeeAll(), id)
}

func (v ownersView) Sessions(ctx context.Context, q parley.SessionQuery) (parley.SessionPage, error) {
	return v.SessionReader.Sessions(ctx, parley.SeeAll(), q)
}

// reasonsOf finds out what leads to a session.
func reasonsOf(ctx context.Context, store parley.SessionReader, s parley.Session) (reasons, error) {
	r := reasons{Session: s.ID, Key: s.Key, Aliases: []parley.Alias{}, Participants: []parley.IdentityID{}}
	all := parley.SeeAll()
	people, err := store.Participants(ctx, all, s.ID)
	if err != nil {
		return r, err
	}
	r.Participants = append(r.Participants, people...)
	if s.Key != "" {
		entry, err := store.Lookup(ctx, all, string(s.Key))
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return r, err
		}
		r.Current, r.Scope = entry.Current, entry.Scope
		aliases, err := store.Aliases(ctx, all, s.Key)
		if err != nil && !errors.Is(err, parley.ErrNotFound) {
			return r, err
		}
		r.Aliases = append(r.Aliases, aliases...)
	}
	if r.Scope != nil {
		r.Signature = route.Signature(*r.Scope)
	}
	r.Why = r.words(s)
	return r, nil
}

// words say it for people.
func (r *reasons) words(s parley.Session) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch {
	case s.Key == "" && s.Parent != nil:
		add("it was forked from %s at event %d; no key leads to it: only messages that name its id land here", s.Parent.Session, s.Parent.Seq)
	case s.Key == "":
		add("no key leads to it: only messages that name its id land here")
	case r.Current == s.ID:
		add("it is the current session of the key %s", s.Key)
	case r.Current == "":
		add("its key %s leads nowhere any more: only a message that opens it again by its id lands here", s.Key)
	default:
		add("its key %s leads to %s: messages land there, and no more in this one", s.Key, r.Current)
	}
	if s.Ended != nil {
		add("it ended on %s: %s", instant(s.Ended.At), s.Ended.Reason)
	}
	lines = append(lines, scopeWords(r.Scope, s)...)
	if len(r.Aliases) > 0 {
		names := make([]string, len(r.Aliases))
		for i, alias := range r.Aliases {
			names[i] = strconv.Quote(string(alias))
		}
		add("the key has other names, by which it is found as well: %s", strings.Join(names, ", "))
	}
	for _, id := range r.Participants {
		add("%s takes part, and sees it", id)
	}
	if len(r.Participants) == 0 {
		add("nobody takes part; owners alone see it")
	}
	return lines
}

// scopeWords say which messages a scope stands for.
func scopeWords(scope *parley.Scope, s parley.Session) []string {
	switch {
	case scope == nil && s.Key != "" && !s.Key.OfScope():
		return []string{"the key is a name that somebody chose: messages that name it land here"}
	case scope == nil && s.Key != "":
		return []string{"nothing is stored about what the key stands for"}
	case scope == nil:
		return nil
	case scope.Channel == "unified":
		return []string{fmt.Sprintf("it is the one conversation of user %q with the agent %s: direct messages of theirs land here from every channel", scope.Values[parley.DimensionSender], scope.Agent)}
	}
	from := "messages for the agent " + scope.Agent + " land here that come from " + scope.Channel
	if scope.Account != "" && scope.Account != "default" {
		from += ", account " + scope.Account
	}
	var apart, shared []string
	for _, d := range []parley.Dimension{parley.DimensionSpace, parley.DimensionChat, parley.DimensionTopic, parley.DimensionSender} {
		if value, ok := scope.Values[d]; ok {
			apart = append(apart, fmt.Sprintf("%s %q", d, value))
		} else {
			shared = append(shared, string(d))
		}
	}
	if len(apart) > 0 {
		from += ", with " + strings.Join(apart, ", ")
	}
	lines := []string{from}
	if len(shared) > 0 && s.Type == parley.SessionGroup {
		lines = append(lines, "it makes no difference here: "+strings.Join(shared, ", "))
	}
	return lines
}
