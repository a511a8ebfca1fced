// Package request has the tool http_request: a model asks for an address of the
// web and reads what comes back.
//
// Everything goes through a [tool.Guard], so that nothing but public addresses is
// reached unless the guard allows it. The model never sees credentials: a
// [Credential] is added for its host alone, when the request is sent, and taken out
// of whatever comes back. See docs/tools.md.
//
// The package starts no goroutine of its own. It must not import any other of the
// module but the root, secret and tool.
package request
