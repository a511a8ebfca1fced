package turn_test

import "github.com/parley-run/parley"

// resultsOf gives the tool results in messages, in their order.
func resultsOf(messages []parley.Message) []parley.ToolResult {
	var all []parley.ToolResult
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				all = append(all, *p.Result)
			}
		}
	}
	return all
}

// callStates gives how watchers saw each call end, in the order of their starts;
// empty: it runs for ever.
func (l *lab) callStates() []parley.CallState {
	l.t.Helper()
	var states []parley.CallState
	at := map[parley.CallID]int{}
	for _, e := range l.events() {
		body, err := e.Decode()
		if err != nil {
			l.t.Fatal(err)
		}
		switch b := body.(type) {
		case *parley.ToolStarted:
			at[b.Call] = len(states)
			states = append(states, "")
		case *parley.ToolCompleted:
			i, ok := at[b.Call]
			if !ok || states[i] != "" {
				l.t.Fatalf("call %s ends, and did not run", b.Call)
			}
			states[i] = b.State
		}
	}
	return states
}
