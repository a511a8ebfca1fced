package channel

// Known gives how many chats a limiter holds in memory.
func (l *Limiter) Known() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.chats)
}
