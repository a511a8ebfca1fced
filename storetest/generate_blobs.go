package storetest

import "github.com/parley-run/parley"

// blobs adds changes of blobs. The size of one follows from its handle, as it
// does where content is named by a hash; a slip gives another.
func (g *generator) blobs(b *parley.Batch) {
	for g.chance(30) {
		i := g.IntN(len(blobHandles))
		c := parley.BlobChange{Handle: blobHandles[i], Remove: g.chance(25)}
		if c.Remove {
			if g.chance(50) {
				c.UnusedBefore = g.moment()
			}
		} else {
			c.Type, c.Size = either(g, "image/png", "audio/ogg"), int64(i)+1
			if g.slip() {
				c.Size = 100
			}
		}
		// What would be refused takes the rest of the batch with it.
		if err := g.ahead.changeBlob(g.now, c); err == nil || g.chance(10) {
			b.Blobs = append(b.Blobs, c)
		}
	}
}
