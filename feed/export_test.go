package feed

// Topics gives the number of topics, for tests.
func (f *Feed) Topics() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sessions) + len(f.views) + len(*f.alls.Load())
}

// InTurn gives the number of sessions that are known to be in a turn, for tests.
func (f *Feed) InTurn() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.inTurn)
}

// Kept gives the number of items that windows hold, for tests.
func (f *Feed) Kept() (items int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.sessions {
		t.mu.RLock()
		items += len(t.window.items)
		t.mu.RUnlock()
	}
	for _, a := range f.views {
		a.mu.RLock()
		items += len(a.window.items)
		a.mu.RUnlock()
	}
	return items
}
