package chat

import (
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/chat/markdown"
)

// kind is what an item of the transcript is.
type kind int

// The kinds of items.
const (
	itemSaid   kind = iota // what a person said
	itemAnswer             // what the agent said
	itemThought
	itemCall
	itemTold // what the runtime answered to a command
	itemNote
	itemMark // a line across
)

// item is one thing in the transcript. It belongs to the event with its seq; an event
// can have several, in the order of sub.
type item struct {
	seq uint64
	sub int

	kind   kind
	at     time.Time
	by     string // who said it; empty: that is clear
	own    bool   // the person at the terminal said it
	via    string // the surface it came from; empty: this one
	text   string
	doc    *markdown.Document // of answers and thoughts, in place of text
	call   *call
	open   bool   // a fold that was opened
	undone bool   // the model does not see it any more
	bad    bool   // it says that something went wrong
	said   string // what was said, to be said again
	files  bool   // files went with it, which are not in said

	drawn drawn
}

// drawn is how an item looked when it was last asked for.
type drawn struct {
	width int // 0: never
	lines []string
}

// call is a tool call, as far as it is known.
type call struct {
	id        parley.CallID
	tool      string
	arguments []byte
	state     callState
	decision  parley.ApprovalState // what a person said to it
	result    *parley.ToolResult
}

// callState is how far a call is.
type callState int

// The states of calls.
const (
	callNamed   callState = iota // the model asks for it
	callAsked                    // a person has to allow it
	callRunning                  //
	callDone                     //
	callUnknown                  // nobody knows what it did
)

// changed has the item drawn anew.
func (it *item) changed() { it.drawn = drawn{} }

// folds reports whether the item can be opened.
func (it *item) folds() bool {
	return it.kind == itemThought || it.kind == itemCall || it.kind == itemSaid && longText(it.text)
}

// How much of a long message is shown while it is folded, and what is long.
const (
	foldedLines, longLines = 15, 30
	foldedBytes, longBytes = 2000, 5000
)

func longText(text string) bool {
	return len(text) > longBytes || strings.Count(text, "\n") >= longLines
}

// foldText gives how a long text begins, and says how much is left out.
func foldText(text string) (begin, more string) {
	cut := 0
	for range foldedLines {
		i := strings.IndexByte(text[cut:], '\n')
		if i < 0 {
			cut = len(text)
			break
		}
		cut += i + 1
	}
	if cut > foldedBytes {
		begin = strings.ToValidUTF8(text[:foldedBytes], "")
		return begin + "…", size(int64(len(text)-len(begin))) + " more"
	}
	return strings.TrimSuffix(text[:cut], "\n"), countOf(strings.Count(text[cut:], "\n")+1, "more line")
}

// before reports whether the item stands above the place (seq, sub).
func (it *item) before(seq uint64, sub int) bool {
	return it.seq < seq || it.seq == seq && it.sub < sub
}
