package access

// Keys says how many keys are remembered.
func (t *Throttle) Keys() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.recent) + len(t.older)
}

// ReadPasscode is how a code that was typed is read.
var ReadPasscode = readPasscode
