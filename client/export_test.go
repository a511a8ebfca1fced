package client

import "io"

// Limits sets what is read at most: of an answer, and of an event on a stream.
func Limits(c *Client, answer int64, event int) { c.maxAnswer, c.maxEvent = answer, event }

// Block is one block of a stream of server-sent events.
type Block struct {
	Name, Data, ID string
	HasData, HasID bool
}

// ReadBlocks reads a stream to its end, and gives what ended it.
func ReadBlocks(r io.Reader, limit int) ([]Block, error) {
	events := newEventReader(r, limit)
	var list []Block
	for {
		m, err := events.next()
		if err != nil {
			return list, err
		}
		list = append(list, Block{Name: m.name, Data: string(m.data), ID: m.id, HasData: m.data != nil, HasID: m.hasID})
	}
}

// ErrEventTooLarge is what ends a stream whose events do not end.
var ErrEventTooLarge = errEventTooLarge
