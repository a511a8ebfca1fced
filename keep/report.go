package keep

import (
	"cmp"
	"slices"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/blob"
)

// The kinds of problems that Doctor itself finds. A store's Check brings its
// own kinds.
const (
	KindUnreadable   = "unreadable"   // a read failed
	KindGap          = "gap"          // events of a log are missing
	KindOrder        = "order"        // positions do not ascend
	KindEvent        = "event"        // an event cannot be decoded
	KindLastSeq      = "last_seq"     // the session's last seq is not its log's
	KindCounters     = "counters"     // the session's counters are not its log's
	KindPreview      = "preview"      // the session's preview is not its log's
	KindUpdatedAt    = "updated_at"   // the session's last activity is not its log's
	KindParticipants = "participants" // who takes part is not who joined
	KindQueued       = "queued"       // the count of waiting inputs is wrong
	KindKey          = "key"          // a key is missing or leads to an ended session
	KindReferences   = "references"   // the store does not know that an event shows a blob
	KindMedia        = "media"        // an event shows a blob that the store does not have
)

// Rebuildable reports whether a problem of this kind can be repaired, because
// what is wrong can be computed from data that is not.
func Rebuildable(kind string) bool {
	switch kind {
	case KindLastSeq, KindCounters, KindPreview, KindUpdatedAt, KindParticipants, KindQueued, KindReferences:
		return true
	}
	return false
}

func anyRebuildable(problems []parley.Problem) bool {
	return slices.ContainsFunc(problems, func(p parley.Problem) bool { return Rebuildable(p.Kind) })
}

// MaxFindings is how many problems a report lists; it counts all.
const MaxFindings = 1000

// Report is what [Doctor] found.
type Report struct {
	Sessions  int64 `json:"sessions"`  // examined
	Events    int64 `json:"events"`    // read
	Blobs     int64 `json:"blobs"`     // whose files were looked at
	Busy      int64 `json:"busy"`      // sessions that changed all the time and could not be examined
	Found     int64 `json:"found"`     // problems
	Fixed     int64 `json:"fixed"`     // of these, repaired
	Remaining int64 `json:"remaining"` // of these, still there
	// Findings are the problems, at most [MaxFindings] of them, by session and
	// kind; those of the store as a whole come first.
	Findings []Finding `json:"problems"`
}

// OK reports whether no problem is left.
func (r Report) OK() bool { return r.Remaining == 0 }

// Finding is one problem, and what is to be done about it.
type Finding struct {
	Kind        string           `json:"kind"`
	Session     parley.SessionID `json:"session_id,omitempty"`
	Detail      string           `json:"detail"`
	Rebuildable bool             `json:"rebuildable"`
	Fixed       bool             `json:"fixed"`
	Advice      string           `json:"advice,omitempty"` // what a person can do; empty if it is fixed
}

// add takes the problems of one session into the report: those found, and those
// that are there after a repair.
func (r *Report) add(found, left []parley.Problem) {
	for _, p := range left {
		if !slices.ContainsFunc(found, func(q parley.Problem) bool { return q.Kind == p.Kind }) {
			found = append(slices.Clip(found), p) // only the repair brought it to light
		}
	}
	for _, p := range found {
		f := Finding{Kind: p.Kind, Session: p.Session, Detail: p.Detail, Rebuildable: Rebuildable(p.Kind) && p.Session != ""}
		i := slices.IndexFunc(left, func(q parley.Problem) bool { return q.Kind == p.Kind })
		r.Found++
		if f.Fixed = i < 0; f.Fixed {
			r.Fixed++
		} else {
			r.Remaining++
			f.Detail = left[i].Detail
			f.Advice = advice(f)
		}
		if len(r.Findings) < MaxFindings {
			r.Findings = append(r.Findings, f)
		}
	}
}

// sorted gives the report with its findings in an order that does not depend
// on which worker was faster.
func (r Report) sorted() Report {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Kind, b.Kind))
	})
	return r
}

// advice says what a person can do about a problem.
func advice(f Finding) string {
	switch {
	case f.Rebuildable:
		return "run parley doctor --rebuild: it is computed again from the log"
	case f.Kind == "orphan":
		return "no part of Parley leaves such a row behind: copy the store's folder and report it; restore a backup if something is missing"
	case f.Kind == blob.KindUnreadable:
		return "see that the media can be read by whoever runs Parley, and that they are encrypted if the store is, with its secret"
	case f.Kind == KindMedia, f.Kind == blob.KindMissing, f.Kind == blob.KindDamaged:
		return "the messages are whole, but not what they show: restore the folder of media from a backup"
	case f.Kind == KindKey && f.Session != "":
		return "the conversation itself is whole; reset or resume it to give its key a session again"
	case f.Session != "":
		return "this is the history itself and cannot be computed again: restore the store from a backup, or delete this session"
	default:
		return "stop every program that uses the store, copy its folder, then restore the store from a backup"
	}
}
