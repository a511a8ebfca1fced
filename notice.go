package parley

import "time"

// Notice is something the agent is told once, with the session's next turn: a
// reset, a restart, a missed schedule. It is consumed by the commit that tells
// it.
type Notice struct {
	ID        NoticeID
	Session   SessionID
	Kind      string
	Text      string
	CreatedAt time.Time
}

func (n *Notice) validate() error {
	if err := checkID("notice id", string(n.ID)); err != nil {
		return err
	}
	if err := checkText("notice kind", n.Kind, 1, MaxIDBytes); err != nil {
		return err
	}
	if err := checkTime("the notice's time", n.CreatedAt); err != nil {
		return err
	}
	return checkProse("notice", n.Text, MaxTextBytes)
}
