package httpapi

import (
	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

// powerful reports whether a credential has the larger limits: those of owners,
// and of channels, which carry the messages of many.
func powerful(c access.Caller) bool {
	return c.Principal().Role == parley.RoleOwner || c.Namespace() != ""
}

// newThrottles makes the limits of requests, for most and for the powerful, and
// that of bad credentials.
func newThrottles(cfg Config) (requests [2]*access.Throttle, bad *access.Throttle) {
	for i, rate := range [2]float64{cfg.Limits.Rate, cfg.Limits.OwnerRate} {
		if rate > 0 {
			requests[i] = access.NewThrottle(access.ThrottleConfig{Clock: cfg.Clock, Rate: rate, Burst: max(1, int(4*rate))})
		}
	}
	return requests, access.NewThrottle(access.ThrottleConfig{Clock: cfg.Clock})
}

// mayAsk counts a request of a credential.
func (c *call) mayAsk() error {
	limit := c.requests[0]
	if powerful(c.cred.Caller) {
		limit = c.requests[1]
	}
	if limit == nil {
		return nil
	}
	return limit.Request(credentialKey(c.cred))
}

// credentialKey names a credential in the limits.
func credentialKey(cred access.Credential) string {
	if cred.Token != "" {
		return string(cred.Token)
	}
	return "identity " + string(cred.Caller.Principal().Identity)
}
