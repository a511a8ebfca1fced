package feed

import "github.com/parley-run/parley"

// pager chooses how many events to read at once: few at first and after large
// ones, because a page is in memory as a whole; many when they are small.
type pager int

const (
	firstPage  = 64
	smallPage  = 256 << 10 // bytes below which the next page may be larger
	largePage  = 1 << 20   // bytes above which it is smaller
	fewestRows = 4
)

func (p *pager) limit() int {
	if *p == 0 {
		*p = firstPage
	}
	return int(*p)
}

// learn looks at a page that was read.
func (p *pager) learn(events []parley.Event) {
	bytes := 0
	for i := range events {
		bytes += len(events[i].Data)
	}
	switch {
	case bytes > largePage:
		*p = max(*p/2, fewestRows)
	case bytes < smallPage && len(events) == int(*p):
		*p = min(*p*2, parley.MaxPageSize)
	}
}
