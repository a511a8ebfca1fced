// Package access decides who may do what. [Check] is the one answer to "may this
// caller do this to this session?", [Visible] to what lists and subscriptions show,
// [Caller.Sender] to whom a request may speak for, [Enter] and [Join] to what
// strangers get.
//
// A [Caller] is a principal together with what its credential adds. Who has no
// credential is unauthorized; what a credential can never do is forbidden; what a
// caller may not see is not found, in the same words as what is not there. Such a
// refusal depends on what the request named and never on what is stored.
//
// Every function is pure: what is known goes in, and a decision comes out. Nothing
// here reads a store, a clock or a token, or starts a goroutine. Whether a bot's
// message triggers a turn is decided in package group, and who may have which tool
// run in package tool.
//
// The package must not import any other of the module but the root.
package access
