package main

// heapReserveBytes is how much memory a daemon asks for and never touches, so that the system gives no
// page for it.
//
// The garbage collector begins when the heap is twice as large as what is in use. A daemon uses little, some
// megabytes, so with 500 messages a second it would begin ten times a second, and each time messages wait for
// the processors it takes. What is reserved counts as in use, and makes it begin once in two seconds. That is
// paid for with memory: a busy daemon has up to so much more garbage.
const heapReserveBytes = 64 << 20

// reserveHeap gives the reserve, which is there while it is referred to. Where the environment says
// how the collector is to work, that holds, and there is none.
func (a *app) reserveHeap() []byte {
	if a.getenv("GOGC") != "" || a.getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, heapReserveBytes)
}
