package channel

// Remembered counts the sessions in which something goes on.
func Remembered(o *Outbox) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sessions)
}

// Running reports whether the outbox works.
func Running(o *Outbox) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.works != nil
}

// Lines counts the chats that something is done or waited for.
func Lines(o *Outbox) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines)
}
