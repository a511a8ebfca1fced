package engine

import (
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// choose gives the inputs of the next turn, from those that wait, in the order
// they were admitted. People come before automations, and an automation is alone.
// If all have to wait, until says when the first one may start.
func choose(waiting []parley.Input, fallback parley.BusyMode, now time.Time) (chosen []parley.Input, until time.Time) {
	var people, automations []parley.Input
	for _, in := range waiting {
		switch {
		case in.State != parley.InputQueued:
		case in.Kind == parley.InputAutomation:
			automations = append(automations, in)
		default:
			people = append(people, in)
		}
	}
	if len(people) > 0 {
		if first := people[0].NotBefore; now.Before(first) {
			return nil, first
		}
		return together(people, fallback, now), time.Time{}
	}
	for _, in := range automations {
		if !now.Before(in.NotBefore) {
			return []parley.Input{in}, time.Time{}
		}
		if until.IsZero() || in.NotBefore.Before(until) {
			until = in.NotBefore
		}
	}
	return nil, until
}

// together gives the first input and those that may share its turn: what the same
// user with the same role wants collected, right behind it, and the other parts of
// its burst, which wait for the same instant, also if somebody else spoke in between.
func together(people []parley.Input, fallback parley.BusyMode, now time.Time) []parley.Input {
	first := people[0]
	chosen, behind := people[:1:1], true
	for _, in := range people[1:] {
		collected := behind && mode(first, fallback) == parley.BusyCollect && mode(in, fallback) == parley.BusyCollect
		burst := !first.NotBefore.IsZero() && in.NotBefore.Equal(first.NotBefore)
		if !collected && !burst || !access.Together(first.Principal, in.Principal) || now.Before(in.NotBefore) {
			behind = false
			continue
		}
		if chosen = append(chosen, in); len(chosen) == maxTogether {
			break
		}
	}
	return chosen
}

// maxTogether is how many inputs one turn takes at most.
const maxTogether = 64

// mode is the busy mode of an input: its own, else the session's.
func mode(in parley.Input, fallback parley.BusyMode) parley.BusyMode {
	if in.Busy != "" {
		return in.Busy
	}
	if fallback != "" {
		return fallback
	}
	return parley.BusyQueue
}
