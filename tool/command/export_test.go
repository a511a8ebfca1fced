package command

// Kept gives what is kept of an output that comes in pieces.
func Kept(size int, pieces [][]byte) string {
	o := newOutput(&Config{MaxOutput: size, MaxTotal: 1 << 20})
	for _, p := range pieces {
		o.add(p)
	}
	return o.text()
}
