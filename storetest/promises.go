package storetest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-run/parley"
)

// RunPromise runs the test of one promise. A store has a test of its own for each, named TestPromise_ and the promise, and
// [CheckPromises] sees to it that none is missing.
func RunPromise(t *testing.T, h Harness, name string) {
	t.Helper()
	i := slices.IndexFunc(promises, func(p test) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("there is no promise %q", name)
	}
	if name != idleIsFree {
		t.Parallel()
	}
	promises[i].run(newFixture(t, h))
}

// CheckPromises makes sure that a file of tests has one for each promise.
func CheckPromises(t *testing.T, file string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var tested []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if name, is := strings.CutPrefix(fn.Name.Name, "TestPromise_"); is {
				tested = append(tested, name)
			}
		}
	}
	for _, p := range promises {
		if !slices.Contains(tested, p.name) {
			t.Errorf("%s has no TestPromise_%s", file, p.name)
		}
	}
}

// idleIsFree is the promise whose test runs while no other does: it counts what the process has.
const idleIsFree = "IdleIsFree"

// promises are those of the architecture that a store can keep by itself.
var promises = []test{
	{idleIsFree, testIdleIsFree},
	{"AdmittedMeansDurable", func(f *fixture) {
		f.change(newSession(home))
		for i := range 20 {
			in := post(fmt.Sprint(i), "hello")
			f.change(admit(home, in))
			f.crash()
			want := in
			want.Session, want.Seq, want.At = home, uint64(i)+1, f.now
			f.equal("input after a crash", want, f.input(in.Ref))
			f.equal("waiting after a crash", i+1, len(f.openInputs(home)))
			f.equal("events after a crash", i+1, len(f.events(home)))
		}
	}},
	{"Once", func(f *fixture) {
		f.commit(parley.Batch{
			Sessions: []parley.SessionChange{keyedSession(home, theme), keyedSession(away, theme)},
			Keys:     []parley.KeyChange{{Key: theme, Session: home}},
		})
		f.change(admit(home, post("1", "one")))
		again := func(id parley.SessionID) parley.Batch {
			return parley.Batch{Sessions: []parley.SessionChange{admit(id, post("1", "one"))}}
		}
		first := f.input(post("1", "").Ref)
		f.equal("at once", first, f.duplicate(again(home)))
		f.crash()
		f.equal("after a crash", first, f.duplicate(again(home)))
		f.commit(parley.Batch{Keys: []parley.KeyChange{{Key: theme, Session: away}}})
		f.equal("after a reset", first, f.duplicate(again(away)))
		f.refuseChange(parley.CodeConflict, admit(away, post("1", "two")))
		f.change(drop(home))
		f.equal("after its session was deleted", first.Ref, f.duplicate(again(away)).Ref)
	}},
	{"OneWriter", func(f *fixture) {
		f.change(newSession(home))
		claim := parley.SessionChange{Session: home, Claim: true}
		old := f.change(claim).Sessions[0].Fence
		write := func(fence parley.Fence) parley.Batch {
			return parley.Batch{
				Expect:   []parley.Expectation{parley.FenceIs{Session: home, Fence: fence}},
				Sessions: []parley.SessionChange{appendTo(home, reply("m", "x"))},
			}
		}
		f.commit(write(old))
		young := f.change(claim).Sessions[0].Fence
		if young <= old {
			f.Errorf("fence %d after %d", young, old)
		}
		f.refuse(parley.CodeConflict, write(old))
		f.commit(write(young))
		f.crash()
		f.refuse(parley.CodeConflict, write(old))
		f.commit(write(young))
		claim.Patch.Status = new(parley.StatusRunning)
		won := race(f, 64, func(int) parley.Batch {
			return parley.Batch{
				Expect:   []parley.Expectation{parley.StatusIn{Session: home, Any: []parley.Status{parley.StatusIdle}}},
				Sessions: []parley.SessionChange{claim},
			}
		})
		f.equal("owners of one idle session", 1, len(won))
	}},
	{"NoGaps", func(f *fixture) {
		w := newWriting(f, tenth(100))
		for range 3 {
			w.run(f)
			f.crash()
		}
		for _, id := range append(owns(), home) {
			s := f.session(id)
			f.equal("events of "+string(id), s.LastSeq, uint64(len(f.events(id))))
		}
	}},
	{"NoBlindRepeat", func(f *fixture) {
		f.change(newSession(home))
		f.change(startTurn(home, "t1"))
		f.change(journal(home, "t1", "c1", parley.CallStarted, ""), newSession(away))
		f.change(journal(home, "t1", "c2", parley.CallStarted, ""))
		f.change(journal(home, "t1", "c1", parley.CallFinished, `"done"`))
		f.crash()
		calls := f.calls("t1")
		f.equal("result of the one that finished", `"done"`, string(calls[0].Result))
		f.equal("state of the one that was cut off", parley.CallStarted, calls[1].State)
		for _, call := range []parley.CallID{"c1", "c2"} {
			f.refuseChange(parley.CodeConflict, journal(home, "t1", call, parley.CallStarted, ""))
		}
		f.change(journal(home, "t1", "c2", parley.CallUnknown, ""))
		f.refuseChange(parley.CodeConflict, journal(home, "t1", "c1", parley.CallFinished, `"again"`))
		f.refuseChange(parley.CodeConflict, journal(home, "t1", "c1", parley.CallUnknown, ""))
		f.equal("journal", calls[:1], f.calls("t1")[:1])
	}},
	{"DefaultDeny", func(f *fixture) {
		visibleWorld(f)
		for _, v := range []parley.Visibility{{}, {Namespace: "cli"}, parley.SeeAs(), parley.SeeAs(ben)} {
			for _, reads := range []map[string]reader{readsOfHome, namedReads} {
				for name, read := range reads {
					_, err := read(f.Context(), f.store, v)
					f.code(name+" for "+describe(v), parley.CodeNotFound, err)
				}
			}
			for name, read := range listReads {
				list, err := read(f.Context(), f.store, v)
				f.code(name, "", err)
				f.equal(name+" for "+describe(v), 0, reflect.ValueOf(list).Len())
			}
		}
	}},
	{"TheClockDeletesNothing", func(f *fixture) {
		visibleWorld(f)
		ended := appendTo(home, parley.NewEvent{Body: &parley.Ended{Reason: "idle"}})
		ended.Patch = parley.SessionPatch{
			Status: new(parley.StatusInactive), Ended: &parley.Ending{At: f.now, Reason: "idle"},
		}
		f.change(ended)
		unchanged := f.watch(parley.Batch{})
		before := f.list(parley.SessionQuery{IncludeInactive: true})
		for year := range 10 {
			visitor := person(parley.UserID(fmt.Sprintf("visitor-%d", year)))
			at := startOfTime.AddDate(1+year, 0, 0)
			f.commit(parley.Batch{At: at, Users: []parley.UserChange{{User: visitor}}})
			f.reopen()
			f.commit(parley.Batch{At: at, Users: []parley.UserChange{{User: visitor, Remove: true}}})
		}
		unchanged()
		f.equal("sessions", before, f.list(parley.SessionQuery{IncludeInactive: true}))
	}},
}
