package parley

// Problem is something a check of a store found: what kind it is, in which
// session if in one, and the detail a person needs to judge it.
type Problem struct {
	Kind    string    `json:"kind"`
	Session SessionID `json:"session,omitempty"`
	Detail  string    `json:"detail"`
}
