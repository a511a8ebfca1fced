package bench

import "strings"

// mix scatters numbers: different ones stay different, neighbours end up far
// apart. So everything about session i follows from i, in no order that an
// index could profit from.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

const words = "the agent reads what people write and answers when it knows more than before so a message is mostly short " +
	"words with some names dates 12:30 and numbers like 4711 between them, now and then a question? and often a line that " +
	"says please thanks tomorrow meeting invoice deploy branch review ticket customer weather lunch train Zürich naïve 東京 ok"

// text gives about n bytes of prose; another seed, other prose.
func text(seed uint32, n int) string {
	list := strings.Fields(words)
	var b strings.Builder
	b.Grow(n + 16)
	for x := mix(seed); b.Len() < n; x = mix(x + 1) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(list[int(x%uint32(len(list)))])
	}
	return b.String()
}
