// Package httpapi serves an engine over HTTP: JSON for what is asked, server-sent
// events for what happens.
//
// Each route is registered once, with its gate, and that one registration is its
// decoding, its limits and its entry in the OpenAPI document. What a request may
// do to a session is asked by the engine's handle; the gate decides before that
// whether there is a credential at all, and whether it has to be an owner's.
//
// A [Server] is an http.Handler that a program can mount under a prefix, with its
// own sign-in. Requests are answered in the goroutines of their connections. A
// stream takes its connection over and has two goroutines, one that writes and one
// that notices when the client goes; [Server.Close] ends them and waits.
// [NewHTTPServer] has the time limits that a server on a network needs.
//
// The package must not be imported by what it serves.
package httpapi
