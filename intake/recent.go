package intake

import "sync"

// recent counts names that came up of late, in bounded memory.
type recent struct {
	mu         sync.Mutex
	now, older map[string]int
}

// maxRecent is how many names each half holds.
const maxRecent = 4096

func newRecent() *recent { return &recent{now: map[string]int{}} }

// add counts a name, and gives how often it came up.
func (r *recent) add(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.now[name]
	if !ok {
		n = r.older[name]
	}
	if len(r.now) >= maxRecent {
		r.now, r.older = map[string]int{}, r.now
	}
	r.now[name] = n + 1
	return n + 1
}

// has reports whether a name came up.
func (r *recent) has(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now[name] > 0 || r.older[name] > 0
}
