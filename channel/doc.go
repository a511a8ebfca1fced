// Package channel is what chat platforms share. An adapter, one leaf package per
// platform, implements [Platform]; everything else is here, and the same for all:
// text with its formatting, limits of rate, and the outbox.
//
// Text for platforms is [Rich]: plain text, and what is bold, code or a link in it.
// [Markdown] makes it of what a model writes, [Beginning] of the first half of that, and
// [Rich.Split] cuts it into messages. A [Limiter] keeps these within what a platform
// allows.
//
// The way out begins with [Outbox.Store], a decorator of the store: whatever is written
// for people to read enters the outbox in the same commit, addressed to the chat it
// answers. [Outbox.Run] brings it there. What it is about to do is durable before
// the platform is called, so after a crash nothing is lost, and nothing is said twice
// unless the platform cannot tell; then it is marked.
//
// The outbox owns one goroutine for each chat that something is done for at the moment,
// and none for others; Run ends after they have. A Limiter has none: who waits, and the
// clock's timer, do its work. The package imports the root package and group, and
// nothing else of Parley.
package channel
