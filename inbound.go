package parley

// Inbound is a message or event as a surface received it, normalised. Routing
// turns it into a [Scope]; admission turns it into an [Input].
type Inbound struct {
	Channel    string   `json:"channel"`
	Account    string   `json:"account,omitempty"`
	SpaceType  string   `json:"space_type,omitempty"`
	SpaceID    string   `json:"space_id,omitempty"`
	ChatType   string   `json:"chat_type,omitempty"`
	ChatID     string   `json:"chat_id,omitempty"`
	ChatName   string   `json:"chat_name,omitempty"`
	TopicID    string   `json:"topic_id,omitempty"`
	ParentChat string   `json:"parent_chat_id,omitempty"`
	Sender     Sender   `json:"sender"`
	Parts      []Part   `json:"parts,omitempty"`
	Mentions   []string `json:"mentions,omitempty"`
	ReplyTo    string   `json:"reply_to,omitempty"`
	MessageID  string   `json:"message_id,omitempty"`
}

// Sender is who wrote an inbound, as the platform names them. AltID is a stable
// alternative where the platform's own id changes.
type Sender struct {
	ID    string `json:"id,omitempty"`
	AltID string `json:"alt_id,omitempty"`
	Name  string `json:"name,omitempty"`
	Bot   bool   `json:"bot,omitempty"`
}

// Dimension is one thing by which conversations can be kept apart.
type Dimension string

// The dimensions.
const (
	DimensionSpace  Dimension = "space"
	DimensionChat   Dimension = "chat"
	DimensionTopic  Dimension = "topic"
	DimensionSender Dimension = "sender"
)

// Scope says which inbounds share one conversation. Its canonical name is a
// [Key].
type Scope struct {
	Version    int                  `json:"version"`
	Agent      string               `json:"agent_id"`
	Channel    string               `json:"channel"`
	Account    string               `json:"account"`
	Dimensions []Dimension          `json:"dimensions,omitempty"`
	Values     map[Dimension]string `json:"values,omitempty"`
}

func (s *Scope) validate() error {
	if s == nil {
		return nil
	}
	for _, f := range []struct{ what, value string }{
		{"scope agent", s.Agent}, {"scope channel", s.Channel}, {"scope account", s.Account},
	} {
		if err := checkText(f.what, f.value, 0, MaxNameBytes); err != nil {
			return err
		}
	}
	if len(s.Dimensions) > 8 || len(s.Values) > 8 {
		return invalidf("scope has too many dimensions")
	}
	for _, d := range s.Dimensions {
		if err := checkText("scope dimension", string(d), 1, MaxNameBytes); err != nil {
			return err
		}
	}
	for d, v := range s.Values {
		if err := checkText("scope dimension", string(d), 1, MaxNameBytes); err != nil {
			return err
		}
		if err := checkText("scope value of "+string(d), v, 0, MaxAliasBytes); err != nil {
			return err
		}
	}
	return nil
}

func (s Sender) validate() error {
	if err := checkText("sender id", s.ID, 0, MaxIDBytes); err != nil {
		return err
	}
	if err := checkText("sender's alternative id", s.AltID, 0, MaxIDBytes); err != nil {
		return err
	}
	return checkProse("sender name", s.Name, MaxNameBytes)
}
