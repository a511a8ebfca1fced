// Package mcp has the tools of servers of the Model Context Protocol: programs
// that it starts and talks to over their standard input and output, and servers
// that it reaches by HTTP.
//
// A [Server] connects when it is first used, and again when it has lost its
// connection. A call is sent once: if the connection is lost while it runs, the
// result says that nobody knows what it did. What a server says is text of a
// stranger. It is limited in size and number, made valid, and scrubbed; requests
// of the server (for a model's answer, for input of a person, for folders) are
// refused.
//
// Each connection has goroutines that read, write and wait; they belong to the
// server, and [Server.Close] waits for them and for the program it started.
//
// The package must not import any other of the module but the root, secret and
// tool.
package mcp
