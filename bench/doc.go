// Package bench is what `parley bench` measures: how close Parley comes to what
// the machine can do, and that no operation grows with what is stored.
//
// Every figure stands beside a reference measured in the same seconds: the
// limit that disk and processor set, or the same operation on little data. The two are measured
// in turns, round by round, and medians are compared, so that a machine that is
// slow or busy for a while is so for both. What is judged is the ratio, against
// a fixed bar; where there is no such limit, as of memory, of fan-out and of what a person waits for, the figure itself.
//
// The operations are the ones production uses, called as programs that embed Parley call them, or through the daemon
// and its terminal; the caller brings the store. It must not import a store, nor commands. When all is measured, the rows
// that were left are read back: an acknowledged admission that is not there
// fails the run, whatever its speed, and so does an event that a subscriber did
// not get, or not in its place.
//
// Load is bounded by count and by time. The goroutines of a measurement end
// with it, and the folder that a run works in is removed when it returns.
package bench
