package bench

import "github.com/parley-run/parley"

// Roughly what a session, and an event of a long log, take on the disk while a
// run goes on, with the write-ahead log and some room.
const (
	bytesPerSession = 8 << 10
	bytesPerEvent   = 1 << 10
	bytesBesides    = 200 << 20
)

// checkSpace refuses a run for which the disk has no room.
func checkSpace(dir string, s Size) error {
	need := int64(s.Sessions+s.Few)*bytesPerSession + int64(s.Deep)*bytesPerEvent + bytesBesides
	free := freeSpace(dir)
	if free < 0 || free >= need {
		return nil
	}
	return parley.Errorf(parley.CodeUnavailable,
		"a run with %d sessions needs about %.1f GB, and %s has %.1f GB free; choose another folder with --dir, or use --quick",
		s.Sessions, float64(need)/1e9, dir, float64(free)/1e9)
}
