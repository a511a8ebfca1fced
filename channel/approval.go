package channel

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

// maxArguments is how many bytes of a call's arguments a question shows.
const maxArguments = 600

// Choice is what somebody chooses by pressing a button.
type Choice string

// The choices.
const (
	ChooseApprove Choice = "y" // the call may run
	ChooseSession Choice = "s" // it may, and so may the same tool for the rest of the session
	ChooseDeny    Choice = "n"
	ChooseRelease Choice = "r" // send what was held
)

// PressedButton reads the data of a button: which delivery it stands below, and what it
// chooses. What no button of ours carries is not ok.
func PressedButton(data string) (id parley.DeliveryID, choice Choice, ok bool) {
	kind, rest, found := strings.Cut(data, ":")
	switch choice = Choice(kind); choice {
	case ChooseApprove, ChooseSession, ChooseDeny, ChooseRelease:
		return parley.DeliveryID(rest), choice, found && rest != ""
	}
	return "", "", false
}

func button(text string, choice Choice, id parley.DeliveryID) Button {
	return Button{Text: text, Data: string(choice) + ":" + string(id)}
}

// buttonsOf gives the buttons of a delivery. A question that was answered has none.
func buttonsOf(d *parley.Delivery) [][]Button {
	switch {
	case d.Kind == parley.DeliveryApproval && d.PlatformID == "":
		return [][]Button{
			{button("Approve", ChooseApprove, d.ID), button("Deny", ChooseDeny, d.ID)},
			{button("Approve for this conversation", ChooseSession, d.ID)},
		}
	case d.Kind == parley.DeliveryBacklog && d.PlatformID == "":
		return [][]Button{{button("Send them now", ChooseRelease, d.ID)}}
	}
	return nil
}

// approvalID names the delivery of a question. It follows from the question, so that
// the answer finds it.
func approvalID(session parley.SessionID, turn parley.TurnID, call parley.CallID) parley.DeliveryID {
	sum := sha256.Sum256([]byte(string(session) + "\x00" + string(turn) + "\x00" + string(call)))
	return parley.DeliveryID("a_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15])))
}

// question asks whether a call may run.
func question(tool string, call *parley.ToolCall) string {
	text := "May `" + strings.ReplaceAll(tool, "`", "'") + "` run?"
	if call == nil || len(call.Arguments) == 0 {
		return text
	}
	arguments := string(call.Arguments)
	if len(arguments) > maxArguments {
		cut := maxArguments
		for !utf8.RuneStart(arguments[cut]) {
			cut--
		}
		arguments = arguments[:cut] + " …"
	}
	fence := "```"
	for strings.Contains(arguments, fence) {
		fence += "`"
	}
	return text + "\n\n" + fence + "\n" + arguments + "\n" + fence
}

// answered is a question after it was answered.
func answered(question string, state parley.ApprovalState) string {
	outcome := map[parley.ApprovalState]string{
		parley.ApprovalApproved: "✅ Approved",
		parley.ApprovalDenied:   "❌ Denied",
		parley.ApprovalExpired:  "⌛ Nobody answered in time",
		parley.ApprovalCanceled: "No longer needed",
	}[state]
	if question == "" { // it was redacted
		return outcome
	}
	return outcome + "\n\n" + question
}

// approval gives the question that a delivery asks. One that is gone counts as
// canceled.
func (o *Outbox) approval(ctx context.Context, d *parley.Delivery) (parley.Approval, error) {
	all, err := o.store.Approvals(ctx, parley.SeeAll(), d.Session)
	if err != nil {
		return parley.Approval{}, err
	}
	for _, a := range all {
		if a.Turn == d.Turn && a.Call == d.Call {
			return a, nil
		}
	}
	return parley.Approval{State: parley.ApprovalCanceled}, nil
}
