// Package files gives an agent tools to read, write, edit, list and search files
// inside a folder that they cannot leave.
//
// The package starts no goroutine.
package files
