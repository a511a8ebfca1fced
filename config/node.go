package config

// kind is what a node is.
type kind int

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindFloat
	kindText
	kindList
	kindMap
)

func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text", "a list", "a map"}[k]
}

// node is a value as it was written, with its place. YAML and JSON become the
// same nodes.
type node struct {
	kind   kind
	text   string // of a scalar, as written but without quotes and escapes
	quoted bool   // it was written with quotes, or as a block
	list   []node
	keys   []entry
	place  Place
}

// entry is a key of a map and its value.
type entry struct {
	name  string
	place Place
	value node
}

// scalar reports whether n is a single value.
func (n node) scalar() bool { return n.kind != kindList && n.kind != kindMap }

// The limits of what is read. They are far beyond any real configuration, and
// keep the work on a hostile one small.
const (
	MaxFileBytes = 1 << 20 // of the file, and of all variables
	MaxKeys      = 5_000   // keys in the file, before aliases are followed
	MaxValues    = 50_000  // values, after aliases are followed
	MaxNesting   = 32      // maps and lists inside each other
	maxTokens    = 200_000
	maxKeyBytes  = 256
)
