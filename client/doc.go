// Package client is the Go client of the HTTP API. A [Client] is a
// [parley.Client], so that a surface works with an engine in its own process and
// with a server far away alike; its other methods are called as those of the
// engine's handle are.
//
// # What is promised
//
// Messages. [Client.Post] gives each message an id, and repeats it with the same
// id if the answer got lost: whatever happens on the way, it is said once.
//
// Events. [Client.Events] and [Client.Follow] go on by themselves when the
// connection is lost, for as long as their context lives. Every stored event after
// the position they began at comes once, and in order. Deltas are not stored: what
// a reader puts together from the last snapshot of a reply and the deltas after it
// is always the beginning of the reply. [Config.ReconnectFunc] tells when a
// connection is lost, and when it is back.
//
// Positions. The server's positions are opaque texts. An update that comes from
// here has that text, whole, as the Epoch of its [parley.Position]; Seq, Stream and
// N stand beside it for who wants to look, and are not sent back. A position is
// good with the server it came from, also in another process and much later. One
// without an Epoch counts: the zero value is the beginning, Seq alone is the event
// after which to begin, and [Now] is the end.
//
// Errors are [*parley.Error] with the code that the server gave, and
// [*RemoteError] in their chain has the rest of its answer. What is not an answer
// of a Parley server, such as the page of a proxy or half a body, is
// [parley.CodeUnavailable]. If a change may have been made although its answer did
// not arrive, [parley.ErrOutcomeUnknown] is in the chain.
//
// Names. The API names inputs by their ids alone. Where a [parley.InputRef] comes
// from here, its origin is [Origin], and where one is asked for, its id counts.
//
// The token is sent to the server of [Config.URL] and nowhere else: redirects are
// not followed, and it does not go over a network in the clear.
//
// # Goroutines
//
// The package starts none: streams run in their callers' goroutines. The
// connections' own end with [Client.Close].
//
// The package imports the root package, and nothing else of Parley.
package client
