// Package blob keeps media beside a store, as files that are named by their
// content.
//
// A piece of media is streamed in, synced, and only then registered with the
// store, so that an event never names bytes that are not there. Who sends the
// same again gets the same handle, and one file serves all. Access follows the
// sessions that refer to a blob; [Store.Open] asks the store. What nothing has
// referred to for a day is taken away by [Store.Sweep], which somebody has to
// call now and then.
//
// A handle is a hash under a key of the installation: names on disk tell nothing
// about what they hold, not even to who has the same file. With a secret, files
// are encrypted in chunks, so that reading from the middle costs as little as
// reading from the start. See docs/media.md.
//
// All methods of a [Store] may be called from many goroutines. The package starts
// none of its own. One process at a time writes a folder, as with the store it
// belongs to. It imports the root package and nothing else of Parley.
package blob
