package sqlite

import (
	"bytes"
	"slices"

	"github.com/parley-run/parley"
)

// tx is one batch inside a transaction.
type tx struct {
	c      *conn
	pos    uint64                      // of the last event
	wrote  bool                        // there is something to commit
	scrub  bool                        // text that was taken away may be in the WAL or the intents, and events in memory that are not there any more
	forget bool                        // what is known of other sessions may be wrong now
	unused []parley.Key                // keys that may have lost their last session
	blobs  map[parley.BlobHandle]int64 // numbers of those that the batch's media name
	heads  []*head
	known  knownHeads
	result *parley.Result
}

// apply carries the batch out, in the order [parley.Batch] promises. That an
// input is there already is looked up by findDuplicate.
func (p *prepared) apply(t *tx) error {
	for i, e := range p.Expect {
		if err := t.expect(i, e); err != nil {
			return err
		}
	}
	t.wrote = true
	if err := t.applyBlobs(p.At, p.Blobs); err != nil {
		return err
	}
	if err := t.findBlobs(p.blobs); err != nil {
		return err
	}
	before := t.pos
	t.result.Sessions = make([]parley.SessionResult, len(p.changes))
	for i := range p.changes {
		if err := t.applySession(p.At, &p.changes[i], &t.result.Sessions[i]); err != nil {
			return err
		}
	}
	if t.pos > before {
		t.result.Pos = t.pos
	}
	for i := range p.Keys {
		if err := t.pointKey(&p.Keys[i]); err != nil {
			return err
		}
	}
	for _, a := range p.Aliases {
		if err := t.claimAlias(a); err != nil {
			return err
		}
	}
	for _, key := range t.unused {
		if err := t.dropKey(key); err != nil {
			return err
		}
	}
	if err := t.applyPeople(p.Batch); err != nil {
		return err
	}
	return t.applyCredentials(p.Batch)
}

// findDuplicate looks for an admitted input that is there already, and makes it
// the result. The same name with other content is a conflict. A batch that is refused, or is a duplicate, may have what was taken away, and with
// it the intents.
func (p *prepared) findDuplicate(t *tx) (found bool, refusal error) {
	repeats, err := p.mayRepeatWhatIsGone(t)
	if err != nil {
		return false, err
	}
	t.scrub = t.scrub || repeats
	for i := range p.changes {
		for j := range p.changes[i].inputs {
			ref := p.changes[i].Admit[j].Ref
			var hash []byte
			gone := false // with its session
			isThere, err := t.c.one(func(r row) { hash, gone = r.blob(0), r.bool(1) },
				`SELECT hash, gone IS NOT NULL FROM inputs WHERE origin = ? AND id = ?`, ref.Origin, ref.ID)
			if err != nil {
				return false, err
			}
			if !isThere {
				continue
			}
			t.scrub = t.scrub || gone || len(hash) == 0
			switch {
			case found || refusal != nil: // the first is the answer
			case len(hash) > 0 && !bytes.Equal(hash, p.changes[i].inputs[j].hash):
				refusal = conflict("input %q of %q was sent before with other content; a new message needs a new id", ref.ID, ref.Origin)
			default:
				in, err := readInput(t.c, ref)
				if err != nil {
					return false, err
				}
				*t.result = parley.Result{Duplicate: &in}
				t.wrote, found = false, true
			}
		}
	}
	return found, refusal
}

// mayRepeatWhatIsGone reports whether a batch is of a session that is not there, or expects an event to be intact that is not. Such a batch is
// refused, but its intent may hold text that was read before it was taken away.
func (p *prepared) mayRepeatWhatIsGone(t *tx) (bool, error) {
	for _, e := range p.Expect {
		if e, ok := e.(parley.EventIntact); ok {
			if intact, err := t.intact(e); !intact && (err == nil || refused(err)) {
				return true, nil
			} else if err != nil {
				return false, err
			}
		}
	}
	for i := range p.changes {
		of := p.changes[i].Session
		if create := p.changes[i].Create; create != nil && create.Fork != nil {
			of = create.Fork.Session
		}
		if p.creates(of) {
			continue
		}
		if _, err := t.head(of); refused(err) {
			return true, nil
		} else if err != nil {
			return false, err
		}
	}
	return false, nil
}

// creates reports whether the batch makes a session of that name.
func (p *prepared) creates(id parley.SessionID) bool {
	return slices.ContainsFunc(p.changes, func(c change) bool { return c.Create != nil && c.Session == id })
}
