package storetest

import (
	"slices"

	"github.com/parley-run/parley"
)

// expect checks the expectations in their order and stops at the first that
// does not hold.
func (o *oracle) expect(list []parley.Expectation) error {
	for i, e := range list {
		actual, holds, err := o.actual(e)
		if err != nil {
			return err
		}
		if !holds {
			return &parley.Error{
				Code: parley.CodeConflict,
				Err:  &parley.ExpectError{Index: i, Expect: e, Actual: actual},
			}
		}
	}
	return nil
}

// actual gives what an expectation is about, as it is, and whether it is as
// expected.
func (o *oracle) actual(e parley.Expectation) (actual any, holds bool, err error) {
	switch e := e.(type) {
	case parley.KeyIs:
		is := o.keys[e.Key].current
		return is, is == e.Session, nil
	case parley.AliasIs:
		is := o.aliases[e.Alias]
		return is, is == e.Key, nil
	case parley.InputIs:
		is := o.inputs[e.Ref].row.State
		return is, is == e.State, nil
	case parley.DeliveryIs:
		var is parley.DeliveryState
		if i := o.delivery(e.Delivery); i >= 0 {
			is = o.deliveries[i].State
		}
		return is, is == e.State, nil
	case parley.IdentityIs:
		is := o.identities[e.Identity].User
		return is, is == e.User, nil
	}
	return o.actualOfSession(e)
}

func (o *oracle) actualOfSession(e parley.Expectation) (actual any, holds bool, err error) {
	s, err := o.session(sessionOf(e))
	if err != nil {
		return nil, false, err
	}
	switch e := e.(type) {
	case parley.FenceIs:
		return s.row.Fence, s.row.Fence == e.Fence, nil
	case parley.StatusIn:
		return s.row.Status, slices.Contains(e.Any, s.row.Status), nil
	case parley.RecoveryIs:
		return s.row.Recovery.State, s.row.Recovery.State == e.State, nil
	case parley.EndedIs:
		is := s.row.Ended != nil
		return is, is == e.Ended, nil
	case parley.QueuedAtMost:
		is := o.queued(s)
		return is, is <= e.Max, nil
	case parley.EventIntact:
		is := e.Seq > 0 && e.Seq <= uint64(len(s.shows))
		if is {
			_, gone := o.event(s.shows[e.Seq-1]).body.(*parley.Tombstone)
			is = !gone
		}
		return is, is, nil
	case parley.TurnIs:
		is := s.turns[e.Turn].State
		return is, is == e.State, nil
	case parley.ApprovalIs:
		var is parley.ApprovalState
		if i := o.approval(s.row.ID, e.Turn, e.Call); i >= 0 {
			is = o.approvals[i].State
		}
		return is, is == e.State, nil
	}
	return nil, false, parley.Errorf(parley.CodeInternal, "the oracle does not know %T", e)
}

// sessionOf gives the session that an expectation is about.
func sessionOf(e parley.Expectation) parley.SessionID {
	switch e := e.(type) {
	case parley.FenceIs:
		return e.Session
	case parley.StatusIn:
		return e.Session
	case parley.RecoveryIs:
		return e.Session
	case parley.EndedIs:
		return e.Session
	case parley.QueuedAtMost:
		return e.Session
	case parley.TurnIs:
		return e.Session
	case parley.ApprovalIs:
		return e.Session
	case parley.EventIntact:
		return e.Session
	}
	return ""
}
