package channel

import "context"

// Profile is an account as its platform knows it.
type Profile struct {
	ID   string
	Name string // what people find it by
	// Link opens a chat with it. A code that is appended to it arrives as the first
	// message, behind /start; empty: there is no such link.
	Link string
	// Hints say what the platform will not show the account, and how to change that.
	Hints []string
}

// Profiler is a [Platform] that can say who it is there.
type Profiler interface {
	// Profile asks the platform. A token that is not good is
	// [parley.CodeUnauthorized].
	Profile(ctx context.Context) (Profile, error)
}

// Reporter is a [Platform] that knows how it is while it runs.
type Reporter interface {
	// Condition is ok, or says in a few words what is wrong. It holds no secret.
	Condition() string
}
