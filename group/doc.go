// Package group knows how an agent behaves among several people: who makes it
// take a turn and what it only listens to ([Decide]), how it learns who is
// speaking ([Prefix]), and how it says nothing ([Strip], [Filter]). In a direct
// chat the answers are the plain ones.
//
// Every function is pure; a Filter holds a few bytes between calls. Nothing here
// starts a goroutine. Who was mentioned is found out by the adapters of the
// platforms, each of which has its own ways to mention.
//
// The package must not import any other of the module but the root.
package group
