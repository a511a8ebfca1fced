package sqlite

// The WAL as SQLite lays it out: a header, then for each page a
// header and the page.
const (
	walMagic         = 0x377f0682
	walHeaderBytes   = 32
	frameHeaderBytes = 24
	frameBytes       = frameHeaderBytes + pageBytes
)
