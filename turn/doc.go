// Package turn is the default runner: one run of the agent, from the window of
// messages to the answer. It streams from a model, runs the tools it asks for, and
// goes back to it until it is done, with limits on rounds, time, size and money,
// and with other models to fall back to.
//
// A [Runner] keeps nothing of a turn: what is worth keeping goes through the
// turn's journal before the next step is taken, so a turn that was cut off is
// taken up again where it was. It works on a journal in memory as well, which is
// how a tool runs a turn of its own.
//
// The package starts no goroutine that outlives a call of [Runner.Run]. It names no
// provider and no tool, and imports the root package alone.
package turn
