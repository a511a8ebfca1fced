// Package scripted is a model that needs no network and no key: it answers from a
// script, the same every time. Without a script of its own it is scripted/demo,
// which shows on request what Parley can do; it never passes for a real model.
//
// The answer depends on the request alone, so a turn that is taken up again gets
// the same one. There is one exception, which a script has to ask for: an error
// that passes once the same request was tried often enough.
//
// The package starts no goroutine. It imports the root package alone.
package scripted
