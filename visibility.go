package parley

import (
	"slices"
	"strings"
)

// Visibility is what a reader may see. Every read of a [Store] takes one and
// applies it inside the query, so that what is hidden is never even looked at
// by the caller: a hidden session is not found.
//
// The zero value sees nothing.
type Visibility struct {
	// All sees every session (of the namespace, if there is one).
	All bool
	// Identities see the sessions that one of them takes part in.
	Identities []IdentityID
	// Namespace, if set, narrows the rest to sessions whose id is in it.
	Namespace string
}

// SeeAll is the visibility of the runtime itself and of owners.
func SeeAll() Visibility { return Visibility{All: true} }

// SeeAs is the visibility of a user with these identities.
func SeeAs(identities ...IdentityID) Visibility { return Visibility{Identities: identities} }

// Allows reports whether a session with these participants may be seen. It is
// the rule in words; stores say the same in their queries.
func (v Visibility) Allows(session SessionID, participants []IdentityID) bool {
	if v.Namespace != "" && !strings.HasPrefix(string(session), v.Namespace+":") {
		return false
	}
	return v.All || slices.ContainsFunc(v.Identities, func(id IdentityID) bool {
		return slices.Contains(participants, id)
	})
}

// Empty reports whether nothing at all can be seen.
func (v Visibility) Empty() bool { return !v.All && len(v.Identities) == 0 }
