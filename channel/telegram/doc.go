// Package telegram is the adapter for Telegram: a [Bot] is one bot on it, as a
// [channel.Platform].
//
// Updates come by long polling or by a webhook. Either way Telegram is told that one
// arrived only after its receiver has taken it; so it comes again after a crash. Text
// goes out with entities, whose offsets Telegram counts in UTF-16, and there is nothing
// to escape. Telegram knows no message again that is sent twice, and a bot cannot read
// what it sent: when an answer is missing, nobody knows.
//
// A bot owns goroutines only while its Run does: one for each chat that an update of is
// being taken in. The package imports the root, group and channel, and of Telegram's
// library what it needs to talk to the Bot API. It asks for updates itself, as the
// library confirms them before anybody has them.
package telegram
