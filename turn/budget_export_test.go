package turn

// Held gives how many periods, suspended turns and warnings a ledger remembers.
func (l *Ledger) Held() (periods, suspended, told int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.periods), len(l.suspended), len(l.told)
}
