package scripted

import (
	"crypto/sha256"
	"encoding/binary"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

const (
	tokenBytes  = 4     // of text that count as a token
	mediaTokens = 1_000 // that a picture or a file counts as
)

// tokensOf gives how many tokens n bytes are.
func tokensOf(n int) int { return (n + tokenBytes - 1) / tokenBytes }

// promptTokens gives what a request counts as.
func promptTokens(req parley.ModelRequest) int {
	size, media := 0, 0
	each(req, func(text string) { size += len(text) }, func(*parley.Media) { media++ })
	return tokensOf(size) + media*mediaTokens
}

// digest tells requests apart.
type digest [sha256.Size]byte

// digestOf gives the digest of a request at a place in the script.
func digestOf(req parley.ModelRequest, rule, step int) digest {
	h := sha256.New()
	add := func(text string) {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	each(req, add, func(m *parley.Media) { add(m.Handle) })
	add(req.CacheKey)
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(rule)))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(step)))
	return digest(h.Sum(nil))
}

// each calls text and media for everything in a request that a model would read,
// in order.
func each(req parley.ModelRequest, text func(string), media func(*parley.Media)) {
	text(req.System)
	for _, t := range req.Tools {
		text(t.Name)
		text(t.Description)
		text(string(t.Schema))
	}
	for _, m := range req.Messages {
		text(string(m.Role))
		for _, p := range m.Parts {
			if p.Kind == parley.PartReasoning && p.Opaque == nil {
				continue
			}
			text(p.Text)
			if p.Media != nil {
				media(p.Media)
			}
			if p.Call != nil {
				text(p.Call.Name)
				text(string(p.Call.Arguments))
			}
			if p.Result != nil {
				text(p.Result.Text)
				if p.Result.Media != nil {
					media(p.Result.Media)
				}
			}
		}
	}
}

// cut gives the beginning of text, at most so many characters, and a … if
// something is missing.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
