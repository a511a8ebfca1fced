package storetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-run/parley"
)

// limit is how much of something can be stored, and the code that more is
// refused with.
type limit struct {
	name string
	most int
	code parley.Code
}

var (
	idBytes       = limit{"MaxIDBytes", parley.MaxIDBytes, parley.CodeTooLarge}
	keyBytes      = limit{"MaxKeyBytes", parley.MaxKeyBytes, parley.CodeTooLarge}
	aliasBytes    = limit{"MaxAliasBytes", parley.MaxAliasBytes, parley.CodeTooLarge}
	nameBytes     = limit{"MaxNameBytes", parley.MaxNameBytes, parley.CodeTooLarge}
	textBytes     = limit{"MaxTextBytes", parley.MaxTextBytes, parley.CodeTooLarge}
	bodyBytes     = limit{"MaxBodyBytes", parley.MaxBodyBytes, parley.CodeTooLarge}
	metadataBytes = limit{"MaxMetadataBytes", parley.MaxMetadataBytes, parley.CodeTooLarge}
	snapshotBytes = limit{"MaxSnapshotBytes", parley.MaxSnapshotBytes, parley.CodeTooLarge}
	manyParts     = limit{"MaxParts", parley.MaxParts, parley.CodeTooLarge}
	depth         = limit{"MaxDepth", parley.MaxDepth, parley.CodeInvalid}
)

// reaches makes the test of one place that a limit holds for: what is one above
// it is refused, and what is exactly as large is stored and read as it was given.
func reaches[T any](l limit, place string, sized func(int) T, batch func(T) parley.Batch, read func(*fixture, T) T) test {
	return test{l.name + " of " + place, func(f *fixture) {
		badWorld(f)
		f.refuseBad(place+" above the limit", l.code, batch(sized(l.most+1)))
		most := sized(l.most)
		f.commit(batch(most))
		f.equal(place, most, read(f, most))
		f.reopen()
		f.equal(place+" after a reopen", most, read(f, most))
	}}
}

// Values of a size. What is counted are bytes, not letters, so texts have letters
// of two bytes. Both ids and texts begin so that they can be a session's.

const beginning = "cli:"

func idOf(size int) string { return beginning + strings.Repeat("x", size-len(beginning)) }

func textOf(size int) string {
	rest := size - len(beginning)
	return beginning + strings.Repeat("é", rest/2) + strings.Repeat("x", rest%2)
}

func bytesOf(size int) []byte { return []byte(textOf(size)) }

func jsonOf(size int) json.RawMessage { return json.RawMessage(`"` + textOf(size-2) + `"`) }

func nestedJSON(levels int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", levels) + strings.Repeat("]", levels))
}

func partsOf(n int) []parley.Part { return slices.Repeat([]parley.Part{parley.TextPart("x")}, n) }

func photosOf(n int) []parley.Media { return slices.Repeat([]parley.Media{*mediaPart(photo).Media}, n) }

// metadataOf counts the names, too.
func metadataOf(size int) map[string]string {
	return map[string]string{"a": textOf(size/2 - 1), "b": textOf(size - size/2 - 1)}
}

// textBeside gives texts that fill up what is encoded beside them.
func textBeside(encoded string) func(int) string {
	return func(size int) string { return textOf(size - len(encoded)) }
}

// lastBody gives the body of the last event of the session home.
func lastBody[B parley.EventBody](f *fixture) B {
	f.Helper()
	events := f.events(home)
	body, err := events[len(events)-1].Decode()
	if err != nil {
		f.Fatalf("Decode: %v", err)
	}
	last, ok := body.(B)
	if !ok {
		f.Fatalf("the last event is %T", body)
	}
	return last
}

// called makes a batch of a call that has begun and finished.
func called(id parley.CallID, tool string, result json.RawMessage) parley.Batch {
	return with(parley.SessionChange{Session: home, Calls: []parley.CallChange{
		{Turn: "t1", ID: id, Tool: tool, State: parley.CallStarted},
		{Turn: "t1", ID: id, Tool: tool, State: parley.CallFinished, Result: result},
	}})
}

// calling makes a part that calls a tool with these arguments.
func calling(arguments json.RawMessage) parley.Part {
	return parley.Part{Kind: parley.PartToolCall, Call: &parley.ToolCall{ID: "c1", Name: "shell", Arguments: arguments}}
}

// custom makes a batch of one event of a program.
func custom(data json.RawMessage) parley.Batch {
	return wrote(&parley.Custom{Type: customType, Data: data})
}

func customData(f *fixture, _ json.RawMessage) json.RawMessage {
	return lastBody[*parley.Custom](f).Data
}

// snapshot makes a batch of a session with this configuration of its agent.
func snapshot(config json.RawMessage) parley.Batch {
	return create(func(n *parley.NewSession) { n.Agent.Config = config })
}

func snapshotRead(f *fixture, _ json.RawMessage) json.RawMessage {
	return f.session("cli:new").Agent.Config
}

// newDelivery gives the delivery that [delivered] makes.
func newDelivery(f *fixture) parley.Delivery {
	f.Helper()
	return f.deliveries(parley.DeliveryQuery{ID: "new"})[0]
}

// newInput gives the input that [admitted] makes.
func newInput(f *fixture) *parley.Admitted {
	f.Helper()
	return lastBody[*parley.Admitted](f)
}

var limitTests = slices.Concat(idLimits, textLimits, sizeLimits, []test{
	{"MaxMetadataBytes of what a patch adds to", func(f *fixture) {
		badWorld(f)
		const half = parley.MaxMetadataBytes / 2
		f.commit(patched(parley.SessionPatch{Metadata: map[string]string{"a": textOf(half - 1)}}))
		f.refuseBad("metadata above the limit", parley.CodeTooLarge,
			patched(parley.SessionPatch{Metadata: map[string]string{"b": textOf(half)}}))
		f.commit(patched(parley.SessionPatch{Metadata: map[string]string{"b": textOf(half - 1)}}))
		f.equal("metadata", metadataOf(parley.MaxMetadataBytes), f.session(home).Metadata)
		// What goes makes room in the same patch.
		f.commit(patched(parley.SessionPatch{Metadata: map[string]string{"a": "", "c": textOf(half - 1)}}))
	}},
})
