package sqlite

// The names of a store's files, after its path.
var storeSuffixes = []string{"", "-journal", walSuffix, walIndexSuffix, intentSuffixes[0], intentSuffixes[1]}

// What SQLite adds to the name of a file, for its write-ahead log and for the index of that.
const (
	walSuffix      = "-wal"
	walIndexSuffix = "-shm"
)

// The two files of intents.
const intentPrefix = "-intents-"

var intentSuffixes = [2]string{intentPrefix + "a", intentPrefix + "b"}
