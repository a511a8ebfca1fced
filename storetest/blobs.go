package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/parley-run/parley"
)

// The blobs that named tests are about.
const (
	photo parley.BlobHandle = "blob_0f"
	voice parley.BlobHandle = "blob_1e"
)

// register registers blobs of one byte.
func register(handles ...parley.BlobHandle) []parley.BlobChange {
	var list []parley.BlobChange
	for _, handle := range handles {
		list = append(list, parley.BlobChange{Handle: handle, Type: "image/png", Size: 1})
	}
	return list
}

// showing makes a message whose media are these blobs.
func showing(id string, handles ...parley.BlobHandle) parley.NewEvent {
	m := &parley.Message{ID: id, Role: parley.MessageUser}
	for _, handle := range handles {
		m.Parts = append(m.Parts, mediaPart(handle))
	}
	return parley.NewEvent{Body: m}
}

func mediaPart(handle parley.BlobHandle) parley.Part {
	return parley.Part{Kind: parley.PartMedia, Media: &parley.Media{Handle: string(handle), Type: "image/png"}}
}

// resulting makes a tool's message whose result has the blob.
func resulting(id string, handle parley.BlobHandle) parley.NewEvent {
	return parley.NewEvent{Turn: "t1", Body: &parley.Message{ID: id, Role: parley.MessageTool, Parts: []parley.Part{
		{Kind: parley.PartToolResult, Result: &parley.ToolResult{CallID: "c1", Media: mediaPart(handle).Media}},
	}}}
}

// blob gives a blob as one who sees everything.
func (f *fixture) blob(handle parley.BlobHandle) parley.Blob {
	f.Helper()
	return get(f, func(ctx context.Context, s parley.Store) (parley.Blob, error) { return s.Blob(ctx, all, handle) })
}

// checkUnused makes sure since when a blob is unused; zero: that it is used.
func (f *fixture) checkUnused(what string, handle parley.BlobHandle, since time.Time) {
	f.Helper()
	f.equal(what+": unused since", since, f.blob(handle).UnusedSince)
	unused := get(f, func(ctx context.Context, s parley.Store) ([]parley.Blob, error) {
		return allUnusedBlobs(ctx, s, f.now.Add(time.Hour), 0)
	})
	listed := false
	for _, b := range unused {
		listed = listed || b.Handle == handle
	}
	f.equal(what+": among the unused", !since.IsZero(), listed)
}

// checkBlobFor makes sure whether a reader finds a blob.
func (f *fixture) checkBlobFor(what string, v parley.Visibility, handle parley.BlobHandle, found bool) {
	f.Helper()
	_, err := f.store.Blob(f.Context(), v, handle)
	code := parley.CodeNotFound
	if found {
		code = ""
	}
	f.code(what, code, err)
}

var blobTests = []test{
	{"a blob comes back as it was registered", func(f *fixture) {
		f.commit(parley.Batch{Blobs: []parley.BlobChange{{Handle: photo, Type: "image/png; q=\"ü\"", Size: 1 << 40}}})
		want := parley.Blob{Handle: photo, Type: "image/png; q=\"ü\"", Size: 1 << 40, CreatedAt: f.now, UnusedSince: f.now}
		f.equal("blob", want, f.blob(photo))
		f.reopen()
		f.equal("blob after a reopen", want, f.blob(photo))
		f.checkBlobFor("another", all, voice, false)
	}},
	{"registering it again starts its time anew, and changes nothing else", func(f *fixture) {
		f.commit(parley.Batch{Blobs: register(photo)})
		want := f.blob(photo)
		f.commit(parley.Batch{Blobs: []parley.BlobChange{{Handle: photo, Type: "image/webp", Size: 1}}})
		want.UnusedSince = f.now
		f.equal("blob", want, f.blob(photo))
		f.change(newSession(home, showing("m1", photo)))
		want.UnusedSince = time.Time{}
		f.commit(parley.Batch{Blobs: register(photo)})
		f.equal("blob in use", want, f.blob(photo))
		f.refuse(parley.CodeConflict, parley.Batch{Blobs: []parley.BlobChange{{Handle: photo, Type: "image/png", Size: 2}}})
	}},
	{"what refers to a blob that is not there is refused", func(f *fixture) {
		f.change(newSession(home))
		in := post("1", "see")
		in.Parts = append(in.Parts, mediaPart(photo))
		for _, c := range []parley.SessionChange{
			appendTo(home, say("m1", "first"), showing("m2", photo)), appendTo(home, resulting("m1", photo)), admit(home, in),
			newSession(away, showing("m1", photo)),
		} {
			f.refuseChange(parley.CodeNotFound, c)
		}
		f.commit(parley.Batch{Blobs: register(voice)})
		f.refuseChange(parley.CodeNotFound, appendTo(home, showing("m1", voice, photo)))
		f.checkUnused("after a refusal", voice, f.now.Add(-time.Second))
		f.refuse(parley.CodeNotFound, parley.Batch{
			Blobs:    []parley.BlobChange{{Handle: voice, Remove: true}},
			Sessions: []parley.SessionChange{appendTo(home, showing("m1", voice))},
		})
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{appendTo(home, showing("m1", photo, voice, photo))}})
		f.checkUnused("registered in the same batch", photo, time.Time{})
		f.change(admit(home, in))
	}},
	{"an input that comes again needs no blob", func(f *fixture) {
		in := post("1", "see")
		in.Parts = append(in.Parts, mediaPart(photo))
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{newSession(home)}})
		f.change(admit(home, in))
		f.change(drop(home))
		f.commit(parley.Batch{Blobs: []parley.BlobChange{{Handle: photo, Remove: true}}})
		f.change(newSession(home))
		f.duplicate(parley.Batch{Sessions: []parley.SessionChange{admit(home, in)}})
	}},
	{"a blob that is referred to is not removed", func(f *fixture) {
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{newSession(home, showing("m1", photo))}})
		remove := parley.Batch{Blobs: []parley.BlobChange{{Handle: photo, Remove: true}}}
		f.refuse(parley.CodeConflict, remove)
		remove.Sessions = []parley.SessionChange{redact(home, 1)} // comes after
		f.refuse(parley.CodeConflict, remove)
		f.change(redact(home, 1))
		f.commit(parley.Batch{Blobs: remove.Blobs})
		f.checkBlobFor("a removed one", all, photo, false)
		unchanged := f.watch(parley.Batch{})
		f.commit(parley.Batch{Blobs: remove.Blobs})
		unchanged()
		f.commit(parley.Batch{Blobs: register(photo)})
		f.equal("registered again", f.now, f.blob(photo).CreatedAt)
	}},
	{"a blob that was used since is not removed", func(f *fixture) {
		f.commit(parley.Batch{Blobs: register(photo)})
		used := f.now
		for _, before := range []time.Time{used.Add(-time.Hour), used} {
			f.refuse(parley.CodeConflict, parley.Batch{Blobs: []parley.BlobChange{{Handle: photo, Remove: true, UnusedBefore: before}}})
		}
		later := parley.BlobChange{Handle: photo, Remove: true, UnusedBefore: used.Add(time.Microsecond)}
		f.commit(parley.Batch{Blobs: []parley.BlobChange{later}})
		f.checkBlobFor("a removed one", all, photo, false)
	}},
	{"a redaction takes the references along", func(f *fixture) {
		in := post("1", "see")
		in.Parts = append(in.Parts, mediaPart(photo))
		f.commit(parley.Batch{Blobs: register(photo, voice), Sessions: []parley.SessionChange{newSession(home)}})
		f.change(admit(home, in))
		f.change(appendTo(home, showing("m2", photo), resulting("m3", voice)))
		shows := showing("m4", photo)
		shows.Body.(*parley.Message).Inputs = []parley.InputRef{in.Ref}
		f.change(appendTo(home, shows))
		f.change(redact(home, 2))
		f.checkUnused("while another event refers to it", photo, time.Time{})
		f.change(redact(home, 1)) // and the message that shows it
		f.checkUnused("after the last", photo, f.now)
		f.checkUnused("another blob", voice, time.Time{})
		f.change(redact(home, 3))
		f.checkUnused("of a result", voice, f.now)
		f.change(redact(home, 1, 2, 3))
		f.checkUnused("redacted twice", voice, f.now.Add(-time.Second))
		f.change(appendTo(home, showing("m5", photo)))
		f.checkUnused("used again", photo, time.Time{})
		c := appendTo(home, showing("m6", voice))
		c.Redact = []uint64{6}
		f.change(c)
		f.checkUnused("redacted at once", voice, f.now)
	}},
	{"a deletion takes the references along, but for what a fork shares", func(f *fixture) {
		f.commit(parley.Batch{Blobs: register(photo, voice), Sessions: []parley.SessionChange{
			newSession(home, join(anna), showing("m1", photo), showing("m2", voice)),
		}})
		f.change(fork(away, home, 2, join(ben)), fork("cli:none", home, 1, join("web:x")))
		f.checkBlobFor("parent", parley.SeeAs(anna), voice, true)
		f.checkBlobFor("fork", parley.SeeAs(ben), photo, true)
		f.checkBlobFor("fork, of what comes later", parley.SeeAs(ben), voice, false)
		f.checkBlobFor("fork from before", parley.SeeAs("web:x"), photo, false)
		f.change(drop(home))
		f.checkUnused("shared", photo, time.Time{})
		f.checkUnused("not shared", voice, f.now)
		f.checkBlobFor("parent that is gone", parley.SeeAs(anna), photo, false)
		f.checkBlobFor("fork", parley.SeeAs(ben), photo, true)
		f.change(fork("cli:grandchild", away, 2, join(anna)))
		f.change(drop(away))
		f.checkBlobFor("fork of a fork", parley.SeeAs(anna), photo, true)
		f.change(drop("cli:grandchild"))
		f.checkUnused("after the last fork", photo, f.now)
	}},
	{"a redaction in a fork takes the shared reference", func(f *fixture) {
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{newSession(home, join(anna), showing("m1", photo))}})
		f.change(fork(away, home, 2))
		f.change(redact(away, 2))
		f.checkUnused("redacted", photo, f.now)
		f.checkBlobFor("parent", parley.SeeAs(anna), photo, false)
	}},
	{"who sees a session that refers to it finds a blob", func(f *fixture) {
		f.commit(parley.Batch{Blobs: register(photo, voice), Sessions: []parley.SessionChange{
			newSession(home, join(anna), showing("m1", photo)), newSession(away, join(ben), join(anna), leave(anna), showing("m1", voice)),
		}})
		for _, c := range []struct {
			v            parley.Visibility
			photo, voice bool
		}{
			{parley.SeeAll(), true, true},
			{parley.Visibility{All: true, Namespace: "cli"}, true, false},
			{parley.Visibility{All: true, Namespace: "web"}, false, true},
			{parley.Visibility{All: true, Namespace: "we"}, false, false},
			{parley.SeeAs(anna), true, false},
			{parley.SeeAs(ben), false, true},
			{parley.SeeAs(ben, anna), true, true},
			{parley.Visibility{Identities: []parley.IdentityID{anna, ben}, Namespace: "web"}, false, true},
			{parley.SeeAs("web:x"), false, false},
			{parley.Visibility{Namespace: "cli"}, false, false},
			{parley.Visibility{}, false, false},
		} {
			f.checkBlobFor("photo for "+describe(c.v), c.v, photo, c.photo)
			f.checkBlobFor("voice for "+describe(c.v), c.v, voice, c.voice)
		}
		f.commit(parley.Batch{Blobs: register("blob_2d")})
		f.checkBlobFor("one that nobody uses", parley.SeeAs(anna), "blob_2d", false)
		f.checkBlobFor("one that nobody uses, in a namespace", parley.Visibility{All: true, Namespace: "cli"}, "blob_2d", false)
	}},
	{"who sees a blob does not depend on how many refer to it", func(f *fixture) {
		many := newSession(home, join(ben))
		for i := range 1200 {
			many.Events = append(many.Events, showing(fmt.Sprint("m", i), photo))
		}
		f.commit(parley.Batch{Blobs: register(photo), Sessions: []parley.SessionChange{many, newSession(away, join(anna))}})
		f.checkBlobFor("who takes part", parley.SeeAs(ben), photo, true)
		f.checkBlobFor("who does not", parley.SeeAs(anna), photo, false)
		f.checkBlobFor("another namespace", parley.Visibility{Identities: []parley.IdentityID{ben}, Namespace: "web"}, photo, false)
		f.change(fork("cli:before", home, 1, join(anna)))
		f.checkBlobFor("fork from before", parley.SeeAs(anna), photo, false)
		f.change(fork("cli:after", home, 2, join(anna)))
		f.checkBlobFor("fork", parley.SeeAs(anna), photo, true)
	}},
	{"lists of blobs come in pages", func(f *fixture) {
		var handles []parley.BlobHandle
		for _, name := range []string{"c", "B", "a", "é", "b"} {
			handles = append(handles, parley.BlobHandle("blob_"+name))
		}
		f.commit(parley.Batch{Blobs: register(handles[0], handles[1])})
		first := f.now
		f.commit(parley.Batch{Blobs: register(handles[2:]...)})
		f.change(newSession(home, showing("m", "blob_a")))
		for _, limit := range []int{0, 1, 2} {
			blobs, err := allBlobs(f.Context(), f.store, limit)
			f.code("Blobs", "", err)
			f.equal("blobs", []parley.BlobHandle{"blob_B", "blob_a", "blob_b", "blob_c", "blob_é"}, handlesOf(blobs))
			for _, c := range []struct {
				before time.Time
				want   []parley.BlobHandle
			}{
				{f.now.Add(time.Hour), []parley.BlobHandle{"blob_B", "blob_c", "blob_b", "blob_é"}},
				{first.Add(time.Microsecond), []parley.BlobHandle{"blob_B", "blob_c"}},
				{first, nil},
				{time.Time{}, nil},
			} {
				unused, err := allUnusedBlobs(f.Context(), f.store, c.before, limit)
				f.code("UnusedBlobs", "", err)
				f.equal("unused before "+c.before.String(), c.want, handlesOf(unused))
			}
		}
		f.commit(parley.Batch{Blobs: []parley.BlobChange{{Handle: "blob_c", Remove: true}}})
		after := parley.Blob{Handle: "blob_c", UnusedSince: first} // it is gone
		unused, err := f.store.UnusedBlobs(f.Context(), f.now, after, 1)
		f.code("UnusedBlobs", "", err)
		f.equal("after one that is gone", []parley.BlobHandle{"blob_b"}, handlesOf(unused))
	}},
}

func handlesOf(blobs []parley.Blob) []parley.BlobHandle {
	var list []parley.BlobHandle
	for _, b := range blobs {
		list = append(list, b.Handle)
	}
	return list
}
