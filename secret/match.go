package secret

// table finds many texts at once, after Aho and Corasick: a tree of all texts,
// where each node knows the longest other beginning that it ends with.
type table struct {
	root  [256]int32 // the children of node 0, which most steps are about
	nodes []node
}

type node struct {
	edges []edge
	fail  int32 // the node of the longest proper suffix that is in the tree
	depth int32
	found int32 // length of the longest text that ends here; 0 for none
}

type edge struct {
	b  byte
	to int32
}

func newTable() *table { return &table{nodes: make([]node, 1)} }

// add adds a text that is not empty. link must follow.
func (t *table) add(text string) {
	at := int32(0)
	for i := range len(text) {
		to := t.child(at, text[i])
		if to == 0 {
			to = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{depth: t.nodes[at].depth + 1})
			t.nodes[at].edges = append(t.nodes[at].edges, edge{text[i], to})
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
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, e := range t.nodes[at].edges {
			n := &t.nodes[e.to]
			if at != 0 {
				n.fail = t.step(t.nodes[at].fail, e.b)
			}
			if n.found == 0 {
				n.found = t.nodes[n.fail].found
			}
			queue = append(queue, e.to)
		}
	}
}

// child gives the node after at, or 0.
func (t *table) child(at int32, b byte) int32 {
	if at == 0 {
		return t.root[b]
	}
	for _, e := range t.nodes[at].edges {
		if e.b == b {
			return e.to
		}
	}
	return 0
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
