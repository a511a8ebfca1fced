// Package access decides who may do what, and knows the people it decides about.
//
// The rules are functions. [Check] is the one answer to "may this caller do this to
// this session?", [Visible] to what lists and subscriptions show, [Caller.Sender] to
// whom a request may speak for, [Enter] and [Join] to what strangers get. They are
// pure: what is known goes in, and a decision comes out.
//
// A [Caller] is a principal together with what its credential adds. Who has no
// credential is unauthorized; what a credential can never do is forbidden; what a
// caller may not see is not found, in the same words as what is not there. Such a
// refusal depends on what the request named and never on what is stored.
//
// [People] is the part with a state. It makes callers out of tokens, lets people
// sign in, links their accounts and lets strangers in, over a store. [Throttle]
// slows down who asks too often. Of secrets it stores hashes; it writes them into no
// log, audit or error.
//
// Whether a bot's message triggers a turn is decided in package group, and who may
// have which tool run in package tool.
//
// The package owns one goroutine, which writes down when tokens were last used and
// that credentials were wrong. It runs while there is something to write;
// [People.Close] waits for it. The package must not import any other of the module
// but the root.
package access
