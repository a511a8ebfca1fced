// Package intake is the way in for chat platforms: from what an adapter received to an
// input that is admitted. It finds out who somebody is, lets them in or gives them a
// code to be let in with, chooses the conversation, fetches media, and brings the
// message to the engine, once, however often the platform gives it. Presses of buttons
// come the same way, and answer approvals.
//
// What a person is told that belongs to no conversation, such as a pairing code, is
// sent as well as can be and not stored: who misses it asks again. Everything else is
// answered through the outbox.
//
// The package owns one goroutine for each such reply, of which there are at most a
// few at once; [Intake.Close] waits for them. It must not import stores, concrete
// platforms or the HTTP API.
package intake
