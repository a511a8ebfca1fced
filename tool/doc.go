// Package tool is what stands between a model's wish and a tool: a registry that
// checks arguments, a policy that says who may have what run, the cutting and
// scrubbing of results, and the guard that keeps requests away from addresses
// they have no business with. The tools themselves are in the packages below.
//
// The package starts no goroutine of its own.
package tool
