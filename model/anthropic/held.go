package anthropic

import "github.com/parley-run/parley"

// maxHeld is how many bytes wait for the end of an answer.
const maxHeld = 16 << 20

// held has the first call of an answer and all that follows it, so that the order
// stays: whether calls count is not known before the end.
type held struct {
	pieces []parley.ModelPiece
	size   int // in bytes
}

// give passes a piece on, or keeps it if it is a call or follows one.
func (a *answer) give(p parley.ModelPiece) error {
	if p.Call == nil && len(a.held.pieces) == 0 {
		return a.emit(p)
	}
	a.held.size += len(p.Text) + len(p.Opaque)
	if p.Call != nil {
		a.held.size += len(p.Call.Arguments)
	}
	if a.held.size > maxHeld {
		return garbage("makes no sense: its calls, and what follows them, are too long")
	}
	a.held.pieces = append(a.held.pieces, p)
	return nil
}

// release passes on what was kept, without the calls if they do not count.
func (h *held) release(emit func(parley.ModelPiece) error, calls bool) error {
	for _, p := range h.pieces {
		if p.Call != nil && !calls {
			continue
		}
		if err := emit(p); err != nil {
			return err
		}
	}
	return nil
}
