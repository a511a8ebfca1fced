package sqlite

// seqBits is the room for a seq in the id of an event.
const seqBits = 32

// eventID is the id of an event: those of a log are one range of the index events_id.
func eventID(log int64, seq uint64) int64 { return log<<seqBits | int64(seq) }

// logOf gives the log that an event is in.
func logOf(id int64) int64 { return id >> seqBits }

// seqOf gives the seq of an event.
func seqOf(id int64) uint64 { return uint64(id) & (1<<seqBits - 1) }

// restOfLog gives the range of a log's events from a seq on.
func restOfLog(log int64, from uint64) (first, last int64) {
	return eventID(log, from), eventID(log, 1<<seqBits-1)
}
