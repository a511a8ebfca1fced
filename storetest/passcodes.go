package storetest

import (
	"time"

	"github.com/parley-run/parley"
)

// passcodeFor makes a passcode that is good for ten minutes from the start of time.
func passcodeFor(kind parley.PasscodeKind, hash int, shownTo parley.IdentityID) parley.PasscodeChange {
	return parley.PasscodeChange{New: &parley.Passcode{
		Hash: hashes[hash], Kind: kind, Identity: shownTo, CreatedAt: startOfTime, ExpiresAt: startOfTime.Add(10 * time.Minute),
	}}
}

// usePasscode uses a passcode up.
func usePasscode(hash int) parley.PasscodeChange { return parley.PasscodeChange{Use: hashes[hash]} }

func (f *fixture) changePasscodes(changes ...parley.PasscodeChange) {
	f.Helper()
	f.commit(parley.Batch{Passcodes: changes})
}

func (f *fixture) refusePasscode(code parley.Code, changes ...parley.PasscodeChange) {
	f.Helper()
	f.refuse(code, parley.Batch{Passcodes: changes})
}

// checkPasscodes makes sure that of all passcodes these are there.
func (f *fixture) checkPasscodes(what string, want ...int) {
	f.Helper()
	var got []int
	for i, hash := range hashes {
		_, err := f.store.Passcode(f.Context(), hash, time.Time{})
		if err == nil {
			got = append(got, i)
			continue
		}
		f.code("Passcode", parley.CodeNotFound, err)
	}
	f.equal("codes "+what, want, got)
}

const (
	login = parley.PasscodeLogin
	link  = parley.PasscodeLink
	pair  = parley.PasscodePair
)

var passcodeTests = []test{
	{"codes are stored as they are given", func(f *fixture) {
		for i, kind := range []parley.PasscodeKind{login, link, pair} {
			want := parley.Passcode{
				Hash: hashes[i], Kind: kind, Identity: anna,
				CreatedAt: startOfTime.Add(time.Microsecond), ExpiresAt: startOfTime.Add(time.Hour),
			}
			f.changePasscodes(parley.PasscodeChange{New: &want})
			got, err := f.store.Passcode(f.Context(), hashes[i], f.now)
			f.code("Passcode", "", err)
			f.equal("code", want, got)
		}
		f.reopen()
		f.checkPasscodes("after a reopen", 0, 1, 2)
	}},
	{"a code is used once", func(f *fixture) {
		f.changePasscodes(passcodeFor(login, 0, anna), passcodeFor(link, 1, anna))
		f.refusePasscode(parley.CodeNotFound, usePasscode(2))
		f.changePasscodes(usePasscode(0))
		f.checkPasscodes("that are left", 1)
		f.refusePasscode(parley.CodeNotFound, usePasscode(0))
		f.refusePasscode(parley.CodeNotFound, usePasscode(1), usePasscode(1))
		f.refuse(parley.CodeNotFound, parley.Batch{
			Passcodes: []parley.PasscodeChange{usePasscode(0)}, Users: []parley.UserChange{{User: person("anna")}},
			Tokens: []parley.TokenChange{tokenFor("one", 0, anna)}, Audit: []parley.AuditEntry{{Action: "sign_in"}},
		})
		f.changePasscodes(passcodeFor(pair, 2, ben), usePasscode(2))
		f.checkPasscodes("after one came and went", 1)
	}},
	{"a code is good until its end", func(f *fixture) {
		f.changePasscodes(passcodeFor(login, 0, anna))
		end := startOfTime.Add(10 * time.Minute)
		for _, c := range []struct {
			at   time.Time
			code parley.Code
		}{
			{time.Time{}, ""},
			{startOfTime, ""},
			{end.Add(-time.Microsecond), ""},
			{end.Add(-time.Nanosecond), ""},
			{end, parley.CodeNotFound},
			{end.Add(time.Nanosecond), parley.CodeNotFound},
			{end.Add(time.Hour), parley.CodeNotFound},
			{end.In(time.FixedZone("east", 3600)), parley.CodeNotFound},
		} {
			_, err := f.store.Passcode(f.Context(), hashes[0], c.at)
			f.code("Passcode at "+c.at.String(), c.code, err)
		}
		for _, at := range []time.Time{end, end.Add(time.Hour)} {
			f.refuse(parley.CodeNotFound, parley.Batch{At: at, Passcodes: []parley.PasscodeChange{usePasscode(0)}})
		}
		f.commit(parley.Batch{At: end.Add(-time.Microsecond), Passcodes: []parley.PasscodeChange{usePasscode(0)}})
		f.checkPasscodes("after it was used at the last moment")
	}},
	{"a code replaces others of its kind and identity", func(f *fixture) {
		f.changePasscodes(passcodeFor(login, 0, anna), passcodeFor(link, 1, anna), passcodeFor(login, 2, ben))
		f.changePasscodes(passcodeFor(login, 3, anna))
		f.checkPasscodes("after another", 1, 2, 3)
		f.refusePasscode(parley.CodeNotFound, usePasscode(0))
		f.changePasscodes(passcodeFor(login, 3, anna))
		f.checkPasscodes("after the same again", 1, 2, 3)
		f.changePasscodes(passcodeFor(login, 0, ben), passcodeFor(login, 4, ben))
		f.checkPasscodes("after two at once", 1, 3, 4)
	}},
	{"a hash is taken once", func(f *fixture) {
		f.changePasscodes(passcodeFor(login, 0, anna), passcodeFor(login, 1, ben))
		f.refusePasscode(parley.CodeConflict, passcodeFor(link, 0, anna))
		f.refusePasscode(parley.CodeConflict, passcodeFor(login, 0, ben))
		f.checkPasscodes("of which none was replaced", 0, 1)
		f.changePasscodes(usePasscode(0), passcodeFor(link, 0, anna))
		f.tokens(tokenFor("one", 0, anna)) // that of a token is another matter
		f.checkPasscodes("after it was freed", 0, 1)
	}},
	{"those that are over go when a code comes", func(f *fixture) {
		short := passcodeFor(login, 0, anna)
		short.New.ExpiresAt = startOfTime.Add(time.Minute)
		f.changePasscodes(short, passcodeFor(link, 1, anna), passcodeFor(pair, 2, anna))
		f.commit(parley.Batch{At: startOfTime.Add(time.Minute - time.Microsecond), Passcodes: []parley.PasscodeChange{passcodeFor(login, 3, ben)}})
		f.checkPasscodes("a moment before its end", 0, 1, 2, 3)
		f.commit(parley.Batch{At: startOfTime.Add(time.Hour), Tokens: []parley.TokenChange{tokenFor("one", 0, anna)}})
		f.checkPasscodes("after a batch without codes", 0, 1, 2, 3)
		f.commit(parley.Batch{At: startOfTime.Add(time.Minute), Passcodes: []parley.PasscodeChange{passcodeFor(pair, 0, ben)}})
		f.checkPasscodes("of which one has the hash of what is over", 0, 1, 2, 3)
		late := passcodeFor(login, 4, ben)
		late.New.ExpiresAt = startOfTime.Add(time.Hour)
		f.commit(parley.Batch{At: startOfTime.Add(10 * time.Minute), Passcodes: []parley.PasscodeChange{late}})
		f.checkPasscodes("at the end of all others", 4)
	}},
	{"of many who enter a code one wins", func(f *fixture) {
		for range tenth(100) {
			f.commit(parley.Batch{At: f.now, Passcodes: []parley.PasscodeChange{passcodeFor(login, 0, anna)}})
			won := race(f, 16, func(int) parley.Batch { return parley.Batch{Passcodes: []parley.PasscodeChange{usePasscode(0)}} })
			f.equal("who signed in", 1, len(won))
		}
	}},
}
