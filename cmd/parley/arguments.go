package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-run/parley"
)

// takes wants as many arguments as it names, such as "the id of a session".
func takes(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(what) {
			if slices.Contains(args, "") {
				return &usageError{fmt.Sprintf("'%s' got an empty argument; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
			}
			return nil
		}
		return &usageError{fmt.Sprintf("'%s' takes %s; see '%s --help'", cmd.CommandPath(), strings.Join(what, " and "), cmd.CommandPath())}
	}
}

// confirm asks who sits at the terminal. Where nobody does, yes has to be said on the
// command line.
func (a *app) confirm(ctx context.Context, question string, yes bool) error {
	if yes {
		return nil
	}
	if !a.inTerminal {
		return &usageError{"this cannot be taken back, and nobody can be asked; say --yes to do it"}
	}
	a.say(visible(question) + " [y/N] ")
	line, err := bufio.NewReader(interruptible(ctx, a.in)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &statusError{exitFailed, "nothing was changed"}
}

// readSecret reads a line that is not shown while it is typed. Where nobody sits at a
// terminal, nobody is asked.
func (a *app) readSecret(ctx context.Context, question string) (line string, err error) {
	if f, ok := a.in.(*os.File); ok && a.inTerminal {
		show, failed := hideTyping(f)
		if failed != nil {
			return "", fmt.Errorf("hide what is typed: %w", failed)
		}
		a.say(question)
		defer func() {
			err = errors.Join(err, show())
			a.say("\n") // what was typed had none that can be seen
		}()
	}
	line, err = bufio.NewReader(interruptible(ctx, a.in)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) { // the last line may have no end
		return "", fmt.Errorf("read what was typed: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// yesFlag lets a command line answer the question.
func yesFlag(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask")
}

func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// oneOf refuses a value that is none of those there are.
func oneOf(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return &usageError{fmt.Sprintf("%s must be %s or %s, not %q", flag, strings.Join(values[:len(values)-1], ", "), values[len(values)-1], value)}
}

// period reads a duration as Go writes it, with d for days as well: 1d12h.
func period(flag, text string) (time.Duration, error) {
	wrong := &usageError{fmt.Sprintf("%s must be a duration such as 90m, 24h or 30d, not %q", flag, text)}
	const mostDays = 100_000
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || n > mostDays || text == "" {
		return 0, wrong
	}
	d := time.Duration(n) * 24 * time.Hour
	if rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 || d+more < d {
			return 0, wrong
		}
		d += more
	}
	return d, nil
}

// moment reads an instant: how long ago, a day, or a time.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if d, err := period(flag, text); err == nil {
		return now.Add(-d), nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return at, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, &usageError{fmt.Sprintf("%s must be how long ago (24h, 7d), a day (2026-03-01) or a time (2026-03-01T12:00:00Z), not %q", flag, text)}
	}
	return at, nil
}

// seqs reads numbers of events.
func seqs(args []string) ([]uint64, error) {
	list := make([]uint64, len(args))
	for i, arg := range args {
		n, err := strconv.ParseUint(strings.TrimPrefix(arg, "#"), 10, 64)
		if err != nil || n == 0 {
			return nil, &usageError{fmt.Sprintf("%q is no number of an event; 'parley sessions show' and 'tail' show them", arg)}
		}
		list[i] = n
	}
	return list, nil
}

// names are what somebody may call something. Ids may be abbreviated.
type names struct {
	ids   []string
	whole []string
}

// has reports whether a text is one of the names, and not the beginning of one.
func (n names) has(text string) bool {
	return text != "" && (slices.Contains(n.ids, text) || slices.Contains(n.whole, text))
}

// onlyOne gives what somebody means: the one whose name it is, else the one of which an id
// begins with it.
func onlyOne[T any](what, text string, all []T, of func(T) names) (T, error) {
	var exact, begun []T
	for _, one := range all {
		switch n := of(one); {
		case n.has(text):
			exact = append(exact, one)
		case text != "" && slices.ContainsFunc(n.ids, func(id string) bool { return strings.HasPrefix(id, text) }):
			begun = append(begun, one)
		}
	}
	if len(exact) > 0 {
		begun = exact
	}
	var none T
	switch len(begun) {
	case 0:
		return none, parley.Errorf(parley.CodeNotFound, "there is no %s %q", what, text)
	case 1:
		return begun[0], nil
	}
	return none, parley.Errorf(parley.CodeInvalid, "%q may be the %s %s or %s; give more of the id", text, what, of(begun[0]).ids[0], of(begun[1]).ids[0])
}

// whole refuses an abbreviation where nobody is asked: somebody may mean another that
// is not there any more.
func whole(text, id string, isWhole, yes bool) error {
	if yes && !isWhole {
		return &usageError{fmt.Sprintf("%q is only the beginning of %s; with --yes give the whole id", text, id)}
	}
	return nil
}
