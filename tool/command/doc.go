// Package command gives an agent a tool to run commands from a list, without a
// shell.
//
// An entry of the list is the beginning of an argument vector: a call whose vector
// begins alike is run, with whatever follows. That is as much as the command does
// with its arguments; one that runs other commands (env, find, xargs, an
// interpreter, git with -c) hands the agent all of them. An entry that ends in "$"
// allows exactly what stands before it. A command is not confined: it may read and
// write what the user that Parley runs as may.
//
// A command gets a small environment with nothing of Parley's, a session of its
// own without a terminal, and one pipe for both outputs. When it ends, runs out of
// time, floods its output or is not wanted any more, everything it started is killed:
// its process group, and on Linux also whatever carries the mark that the
// environment of the command had, in which process group or session it may be. What
// takes the mark off its environment and leaves the group gets away, as does a
// program that gets another user's rights. On other systems what leaves the process
// group gets away, on Windows every process but the first. Nobody limits memory,
// processor time or the number of processes; a container or a service manager can.
// If Parley runs as process 1 of a container, somebody has to collect the processes
// whose parents are gone: start it under an init.
//
// The goroutines of a call end with it.
package command
