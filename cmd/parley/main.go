// Command parley is Parley on the command line: the daemon, and what talks to it,
// looks after its store, and measures it.
//
// This package is the commands and their wiring, and the only place that names
// concrete stores. Each command has its file; what they do is done by the
// packages below.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // the program has its zones with it, as not every machine has them
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(run()) //nolint:forbidigo // this is where the program ends
}

// run is main with its defers.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// From the first signal on, the next one ends the program at once.
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, environ: os.Environ,
		platforms:  platforms(),
		terminal:   isTerminal(os.Stderr, os.Getenv),
		inTerminal: isPerson(os.Stdin), outTerminal: isPerson(os.Stdout), columns: terminalWidth(os.Stdout),
	}
	return a.execute(ctx, os.Args[1:])
}
