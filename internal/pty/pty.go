// Package pty runs a program in a pseudo terminal, for who measures it: what it is
// sent are its keys, and what is read from it is what it draws.
//
// There is one where [Supported] says so. The package starts no goroutine and imports
// nothing of the module.
package pty
