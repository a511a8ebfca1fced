package parley

// Limits on what can be stored. They keep one caller's data from harming
// another's; what is larger is refused with [CodeTooLarge] and nothing is
// written.
const (
	MaxIDBytes       = 256     // ids of sessions, turns, calls, users, identities, inputs, deliveries, notices, blobs
	MaxKeyBytes      = 256     // keys
	MaxAliasBytes    = 1024    // aliases and origins, which hold chat ids of platforms
	MaxNameBytes     = 1024    // titles, display names, tool and model names
	MaxTextBytes     = 8 << 10 // descriptions, error texts, notices
	MaxBodyBytes     = 1 << 20 // one encoded event body; larger content belongs into a blob
	MaxParts         = 256     // parts of one message
	MaxDepth         = 64      // nesting of JSON that callers bring
	MaxMetadataBytes = 16 << 10
	MaxSnapshotBytes = 1 << 20  // an agent's frozen configuration
	MaxBatchEvents   = 10_000   // events and admitted inputs of one batch
	MaxBatchBytes    = 32 << 20 // what a batch stores, all in all; see [Batch.Size]
	MaxPageSize      = 1_000    // rows of one page of any list
)

// PageSize gives the number of rows a page holds when limit was asked for: 50
// if it is not positive, and never more than [MaxPageSize].
func PageSize(limit int) int {
	switch {
	case limit <= 0:
		return 50
	case limit > MaxPageSize:
		return MaxPageSize
	}
	return limit
}
