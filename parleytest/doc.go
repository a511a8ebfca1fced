// Package parleytest is for the tests of programs that embed Parley: in one call, an
// engine on a temporary store with the offline model and a clock that tests move.
//
// The engine's goroutines end with the test, which fails if the engine or the store
// do. The package may import anything but commands; programs import it in tests
// only.
package parleytest
