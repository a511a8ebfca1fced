package channel

import (
	"context"
	"errors"

	"github.com/parley-run/parley"
)

// Paced gives a platform of the outbox for messages that belong to no conversation: its
// Send waits, within its context, until the platform's limits have room. They count
// together with the deliveries. A platform that the outbox does not have comes back as
// it is.
func (o *Outbox) Paced(p Platform) Platform {
	office := o.accounts[account{channel: p.Name(), account: p.Account()}]
	if office == nil {
		return p
	}
	return &paced{Platform: p, office: office}
}

type paced struct {
	Platform

	office *office
}

// Send implements [Platform].
func (p *paced) Send(ctx context.Context, m Outgoing) (string, error) {
	done, err := p.office.limiter.Wait(ctx, m.Target)
	if err != nil {
		return "", err
	}
	defer done()
	id, err := p.Platform.Send(ctx, m)
	if retry, ok := errors.AsType[*RetryError](err); ok {
		p.office.leaveAlone(m.Target, retry)
	}
	return id, err
}

// leaveAlone gives the platform the pause it asks for.
func (o *office) leaveAlone(at parley.Target, retry *RetryError) {
	if retry.Everything {
		o.limiter.PauseAll(retry.After)
	} else {
		o.limiter.Pause(at, retry.After)
	}
}
