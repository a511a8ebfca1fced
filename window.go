package parley

import (
	"cmp"
	"slices"
)

// Window is what a turn shows to the model, in turn order: the messages of a
// turn stand together, and what was only logged while it ran comes after it.
type Window struct {
	Past []Message // before the turn
	Turn []Message // of the turn: what people said, and what it has done so far
}

// NoResult is what the model reads in place of the result of a call that never
// came, because its turn ended before.
const NoResult = "There is no result: the turn ended before this call was done."

// WindowOf puts together the window of a turn from its session's events, in the
// order of their seq; hidden messages are left out. The windows of consecutive turns begin alike: the one of a
// later turn begins with the Past of an earlier one, unless something was rewound
// or redacted since.
//
// Past has no tool result without its call, and no call without a result: what is
// missing is replaced by [NoResult]. Turn may end with calls that have none yet.
func WindowOf(events []Event, turn TurnID) (Window, error) {
	shown := make([]shownMessage, 0, len(events))
	blocks := 0                 // so many there are
	blockOf := map[TurnID]int{} // the number of a turn's
	for i := range events {
		e := &events[i]
		switch e.Type {
		case EventMessage, EventRewound:
		default:
			continue
		}
		body, err := e.Decode()
		if err != nil {
			return Window{}, err
		}
		switch b := body.(type) {
		case *Rewound:
			shown = slices.DeleteFunc(shown, func(m shownMessage) bool { return m.seq > b.ToSeq })
		case *Message:
			if b.Hidden {
				continue
			}
			number, known := blockOf[e.Turn]
			if !known || e.Turn == "" {
				number = blocks
				blocks++
				blockOf[e.Turn] = number
			}
			shown = append(shown, shownMessage{b, e.Seq, number})
		}
	}
	// What belongs together mostly stands together already.
	slices.SortStableFunc(shown, func(a, b shownMessage) int { return cmp.Compare(a.block, b.block) })
	w := Window{Past: make([]Message, 0, len(shown))}
	own, underWay := blockOf[turn]
	underWay = underWay && turn != ""
	var block []Message
	for i := 0; i < len(shown); {
		number := shown[i].block
		block = block[:0]
		for ; i < len(shown) && shown[i].block == number; i++ {
			block = append(block, *shown[i].message)
		}
		if underWay && number >= own {
			if number == own {
				w.Turn = appendWhole(nil, block, false)
			}
			break // what was only logged since comes after it
		}
		w.Past = appendWhole(w.Past, block, true)
	}
	return w, nil
}

// shownMessage is a message of a window on the way to its place.
type shownMessage struct {
	message *Message
	seq     uint64
	block   int // those of one turn are a block, and each outside of all turns is one
}

// TurnInOrder gives the messages of a turn that is under way as models want them:
// each tool result right behind the message with its call, and what else was said
// meanwhile after that. Results without a call are left out.
func TurnInOrder(messages []Message) []Message { return appendWhole(nil, messages, false) }

// appendWhole appends messages with results behind their calls, and leaves out those that
// have none. If the turn is over, calls that have no result get one.
func appendWhole(out, messages []Message, over bool) []Message {
	for i, m := range messages {
		if m.Role == MessageTool {
			continue // taken with its call, if it has one
		}
		out = append(out, m)
		if m.Role != MessageAssistant {
			continue
		}
		var open []CallID
		for _, c := range m.Calls() {
			open = append(open, c.ID)
		}
		for _, later := range messages[i+1:] {
			if len(open) == 0 || later.Role == MessageAssistant {
				break
			}
			if later.Role != MessageTool {
				continue
			}
			later.Parts = slices.DeleteFunc(slices.Clone(later.Parts), func(p Part) bool {
				if p.Result == nil {
					return true
				}
				at := slices.Index(open, p.Result.CallID)
				if at >= 0 {
					open = slices.Delete(open, at, at+1)
				}
				return at < 0
			})
			if len(later.Parts) > 0 {
				out = append(out, later)
			}
		}
		if !over {
			continue
		}
		for _, id := range open {
			out = append(out, ResultMessage(ToolResult{CallID: id, Text: NoResult, IsError: true}))
		}
	}
	return out
}
