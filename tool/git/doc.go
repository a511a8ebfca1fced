// Package git gives an agent a tool that commits to a repository.
//
// It runs the git of the machine, with an argument vector and a small environment.
// Nothing that comes with the repository's files is run: hooks, unless they are
// asked for, the file system monitor, editors, pagers, signing programs and
// background maintenance are off, and so is the network. What the repository's own
// config names as a filter is run, as git cannot add a file otherwise; the tools for
// files do not write that config.
//
// The package keeps no goroutine.
package git
