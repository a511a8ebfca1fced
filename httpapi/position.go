package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/parley-run/parley"
)

// Positions and cursors are opaque to clients. They name the session they are of,
// by a hash: one of another session is noticed.

// marker names what a position belongs to: a session, or all ("").
func marker(id parley.SessionID) string {
	sum := sha256.Sum256([]byte("position of " + string(id)))
	return hex.EncodeToString(sum[:4])
}

// appendPosition appends the text of a position: v1, the marker, the epoch and the
// seq, and inside a reply the number of the delta and the stream.
func appendPosition(b []byte, mark string, p parley.Position) []byte {
	b = append(b, "v1."...)
	b = append(b, mark...)
	b = append(b, '.')
	b = base64.RawURLEncoding.AppendEncode(b, []byte(p.Epoch))
	b = append(b, '.')
	b = strconv.AppendUint(b, p.Seq, 10)
	if p.Stream != "" {
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(p.N), 10)
		b = append(b, '.')
		b = base64.RawURLEncoding.AppendEncode(b, []byte(p.Stream))
	}
	return b
}

// parsePosition reads a position; false if it is none of this session. A plain
// number is a seq.
func parsePosition(text, mark string) (p parley.Position, ok bool) {
	if seq, err := strconv.ParseUint(text, 10, 64); err == nil {
		return parley.Position{Seq: seq}, true
	}
	fields := strings.Split(text, ".")
	if len(text) > 2<<10 || len(fields) != 4 && len(fields) != 6 || fields[0] != "v1" || fields[1] != mark {
		return p, false
	}
	epoch, err := base64.RawURLEncoding.DecodeString(fields[2])
	if err != nil {
		return p, false
	}
	p.Epoch = string(epoch)
	if p.Seq, err = strconv.ParseUint(fields[3], 10, 64); err != nil {
		return p, false
	}
	if len(fields) == 6 {
		stream, err := base64.RawURLEncoding.DecodeString(fields[5])
		if err != nil || len(stream) == 0 {
			return p, false
		}
		p.Stream = string(stream)
		if p.N, err = strconv.Atoi(fields[4]); err != nil || p.N < 0 {
			return p, false
		}
	}
	return p, true
}

// cursorOf makes the cursor of a list, which is of a kind and, if id is set, of a
// session.
func cursorOf(kind string, id parley.SessionID, at string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + "." + marker(id) + "." + at))
}

// readCursor reads a cursor; one of another list or session is refused.
func readCursor(kind string, id parley.SessionID, text string) (at string, err error) {
	if text == "" {
		return "", nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	at, ok := strings.CutPrefix(string(data), kind+"."+marker(id)+".")
	if err != nil || !ok {
		return "", invalidf("the cursor is not one of this list; leave it out to begin at the start")
	}
	return at, nil
}

// readCount is readCursor for lists that count.
func readCount(kind string, id parley.SessionID, text string) (uint64, error) {
	at, err := readCursor(kind, id, text)
	if err != nil || at == "" {
		return 0, err
	}
	n, err := strconv.ParseUint(at, 10, 64)
	if err != nil {
		return 0, invalidf("the cursor is not one of this list; leave it out to begin at the start")
	}
	return n, nil
}
