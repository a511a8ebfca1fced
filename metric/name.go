package metric

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/parley-run/parley"
)

const (
	// codeOK is the code of what did not fail.
	codeOK = "ok"
	// codeUnknown is the code of a commit that may have been written.
	codeUnknown = "outcome_unknown"
	// other stands for values that are too many, or not known.
	other = "other"
	// unnamed stands for an agent that is not known, as outside of a turn.
	unnamed = "none"
	// maxValue is how many bytes a label's value has at most.
	maxValue = 128
)

// names bounds the values of labels: the first that come are kept, the others are
// one.
type names struct {
	most int

	mu   sync.Mutex
	seen map[string]map[string]struct{} // by label
}

// of gives the value that stands for name under a label.
func (n *names) of(label, name string) string {
	name = clean(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]map[string]struct{}{}
	}
	values := n.seen[label]
	if values == nil {
		values = map[string]struct{}{}
		n.seen[label] = values
	}
	if _, known := values[name]; known {
		return name
	}
	if len(values) >= n.most {
		return other
	}
	values[strings.Clone(name)] = struct{}{}
	return name
}

// clean gives a text as the value of a label: UTF-8, and not long.
func clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxValue {
		return text
	}
	cut := maxValue
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// codeOf gives the code of an error as a label's value.
func codeOf(err error) string {
	switch code := parley.CodeOf(err); {
	case code == "":
		return codeOK
	case slices.Contains(parley.Codes(), code):
		return string(code)
	}
	return other
}
