package parley_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-run/parley"
)

func TestExpectError(t *testing.T) {
	t.Parallel()
	ref := parley.InputRef{Origin: "o", ID: "m1"}
	for _, test := range []struct {
		expect parley.Expectation
		actual any
		want   string
	}{
		{parley.KeyIs{Key: "k", Session: "a:1"}, parley.SessionID("a:2"), `expected session "a:1" for key "k", but it is "a:2"`},
		{parley.AliasIs{Alias: "x", Key: ""}, parley.Key("k"), `expected key "" for alias "x", but it is "k"`},
		{parley.FenceIs{Session: "a:1", Fence: 3}, parley.Fence(4), `expected fence 3 of session "a:1", but it is "4"`},
		{parley.StatusIn{Session: "a:1", Any: []parley.Status{"idle", "inactive"}}, parley.StatusRunning, `expected a status of [idle inactive] of session "a:1", but it is "running"`},
		{parley.RecoveryIs{Session: "a:1", State: "none"}, parley.RecoverySuspended, `expected recovery state "none" of session "a:1", but it is "suspended"`},
		{parley.EndedIs{Session: "a:1"}, true, `expected ended false of session "a:1", but it is "true"`},
		{parley.QueuedAtMost{Session: "a:1", Max: 0}, 2, `expected at most 0 queued inputs in session "a:1", but it is "2"`},
		{parley.InputIs{Ref: ref}, parley.InputDone, `expected state "" of input "m1", but it is "done"`},
		{parley.TurnIs{Session: "a:1", Turn: "t", State: "running"}, parley.TurnState(""), `expected state "running" of turn "t", but it is ""`},
		{parley.ApprovalIs{Session: "a:1", Turn: "t", Call: "c", State: "pending"}, parley.ApprovalExpired, `expected state "pending" of the approval for call "c", but it is "expired"`},
		{parley.DeliveryIs{Delivery: "d", State: "pending"}, parley.DeliverySent, `expected state "pending" of delivery "d", but it is "sent"`},
		{parley.IdentityIs{Identity: "a:7", User: "alice"}, parley.UserID("bob"), `expected user "alice" for identity "a:7", but it is "bob"`},
	} {
		failed := &parley.ExpectError{Index: 1, Expect: test.expect, Actual: test.actual}
		if got := failed.Error(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		err := fmt.Errorf("commit: %w", &parley.Error{Code: parley.CodeConflict, Message: "not as expected", Err: failed})
		var found *parley.ExpectError
		if !errors.As(err, &found) || found.Actual != test.actual || !errors.Is(err, parley.ErrConflict) {
			t.Errorf("%T is not found in %v", test.expect, err)
		}
	}
	hostile := &parley.ExpectError{Expect: parley.KeyIs{}, Actual: parley.SessionID(strings.Repeat("\x1b\n", 1<<20))}
	if text := hostile.Error(); len(text) > 600 || strings.ContainsAny(text, "\x1b\n") {
		t.Errorf("an actual value is shown as it is: %d bytes, %.100q", len(text), text)
	}
}
