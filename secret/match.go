package secret

// table finds many texts at once, after Aho and Corasick: a tree of all texts,
// where each node knows the longest other beginning that it ends with.
type table struct {
	root  [256]int32 // the children of node 0, which most steps are about
	nodes []node
}

// node is one byte of a text. Most have one child, so children are a list from
// one to the next.
type node struct {
	child int32 // the first one; 0 for none
	next  int32 // another child of the same node; 0 for none
	fail  int32 // the node of the longest proper suffix that is in the tree
	depth int32
	found int32 // length of the longest text that ends here; 0 for none
	b     byte
}

// newTable makes a table that has room for texts of so many bytes.
func newTable(size int) *table { return &table{nodes: make([]node, 1, 1+size)} }

// add adds a text that is not empty. link must follow.
func (t *table) add(text string) {
	at := int32(0)
	for i := range len(text) {
		to := t.child(at, text[i])
		if to == 0 {
			to = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{b: text[i], next: t.nodes[at].child, depth: t.nodes[at].depth + 1})
			t.nodes[at].child = to
			if at == 0 {
				t.root[text[i]] = to
			}
		}
		at = to
	}
	t.nodes[at].found = int32(len(text))
}

// link sets what nodes know of shorter ones.
func (t *table) link() {
	queue := append(make([]int32, 0, len(t.nodes)), 0)
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for to := t.nodes[at].child; to != 0; to = t.nodes[to].next {
			n := &t.nodes[to]
			if at != 0 {
				n.fail = t.step(t.nodes[at].fail, n.b)
			}
			if n.found == 0 {
				n.found = t.nodes[n.fail].found
			}
			queue = append(queue, to)
		}
	}
}

// child gives the node after at, or 0.
func (t *table) child(at int32, b byte) int32 {
	if at == 0 {
		return t.root[b]
	}
	to := t.nodes[at].child
	for to != 0 && t.nodes[to].b != b {
		to = t.nodes[to].next
	}
	return to
}

// step gives the node of the longest suffix of what was read, b included.
func (t *table) step(at int32, b byte) int32 {
	for {
		to := t.child(at, b)
		if to != 0 || at == 0 {
			return to
		}
		at = t.nodes[at].fail
	}
}

type span struct{ start, end int }

// find gives the parts of text that are to be masked, in order; where known
// texts overlap it is one part. The first covered bytes are one already. open
// is how many bytes at the end may be the beginning of a known text.
func find[T string | []byte](t *table, text T, covered int) (spans []span, open int) {
	if covered > 0 {
		spans = append(spans, span{0, covered})
	}
	at := int32(0)
	for i := range len(text) {
		at = t.step(at, text[i])
		found := int(t.nodes[at].found)
		if found == 0 {
			continue
		}
		sp := span{i + 1 - found, i + 1}
		for len(spans) > 0 && spans[len(spans)-1].end > sp.start {
			last := spans[len(spans)-1]
			sp = span{min(sp.start, last.start), max(sp.end, last.end)}
			spans = spans[:len(spans)-1]
		}
		spans = append(spans, sp)
	}
	return spans, int(t.nodes[at].depth)
}
