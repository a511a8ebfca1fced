package faultvfs

import (
	"strings"

	"github.com/ncruces/go-sqlite3/vfs"
)

// Kind says what a file is for.
type Kind uint8

// The kinds of files. AnyKind matches all of them in a [Rule].
const (
	AnyKind Kind = iota
	DB
	WAL
	Journal
	Other // temporary files and super journals
	Side  // files that SQLite does not know of
)

func (k Kind) String() string {
	return [...]string{"any", "db", "wal", "journal", "other", "side"}[k]
}

// Op is an operation on a file.
type Op uint8

// The operations. AnyOp matches all of them in a [Rule], AnyChange those that
// change a file: write, sync, truncate and delete.
const (
	AnyOp Op = iota
	AnyChange
	Open
	Read
	Write
	Sync
	Truncate // to a shorter or a longer file
	Size
	Delete
)

func (o Op) String() string {
	return [...]string{"any", "change", "open", "read", "write", "sync", "truncate", "size", "delete"}[o]
}

func (o Op) matches(op Op) bool {
	switch o {
	case AnyOp:
		return true
	case AnyChange:
		return op == Write || op == Sync || op == Truncate || op == Delete
	}
	return o == op
}

// kindOfFlags tells a file by the flags it is opened with.
func kindOfFlags(flags vfs.OpenFlag) Kind {
	switch {
	case flags&vfs.OPEN_MAIN_DB != 0:
		return DB
	case flags&vfs.OPEN_WAL != 0:
		return WAL
	case flags&vfs.OPEN_MAIN_JOURNAL != 0:
		return Journal
	}
	return Other
}

// kindOfName tells a file by its name, where there is nothing else.
func kindOfName(name string) Kind {
	switch {
	case strings.HasSuffix(name, "-wal"):
		return WAL
	case strings.HasSuffix(name, "-journal"):
		return Journal
	case strings.Contains(name, "-intents-"):
		return Side
	}
	return DB
}
