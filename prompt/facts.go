package prompt

import (
	"strings"
	"time"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/group"
)

// Limits of a preface, which is stored with every turn.
const (
	maxPeople  = 20
	maxNotices = 20
	maxNotice  = 1000 // characters of one
)

// The names of a session's metadata that a preface tells. The id is told as a
// [Redactor] gives it.
const (
	MetaChatName  = "chat_name"
	MetaChatID    = "chat_id"
	MetaTopicName = "topic_name"
)

// lasting is what a system prompt tells. It must not have what changes while a
// session lasts. Strings are as the model sees them.
type lasting struct {
	Agent string // the agent's own text
	Group bool
	Place string
	IDs   bool // ids are shown
}

func (p *Prompter) lasting(s parley.Session, agent string) lasting {
	return lasting{
		Agent: strings.TrimSpace(agent), Place: value(place(s.Source)), IDs: p.ids != nil,
		Group: s.Type != "" && s.Type != parley.SessionDirect,
	}
}

// place gives the platform of a session, or what stands for it.
func place(s parley.Source) string {
	if s.Platform != "" {
		return s.Platform
	}
	return s.Kind
}

// passing is what a preface tells. Strings are as the model sees them.
type passing struct {
	Time    string
	Chat    string
	Topic   string
	Title   string
	People  string
	Notices []string
	Untold  int // notices that are left out
}

func (p *Prompter) passing(c parley.PromptContext) passing {
	s := c.Session
	told := passing{
		Time: p.time(c.At), People: p.people(c.People), Title: value(s.Title.Text),
		Chat: value(s.Metadata[MetaChatName]), Topic: value(s.Metadata[MetaTopicName]),
	}
	if id := p.ids.Chat(place(s.Source), s.Metadata[MetaChatID]); id != "" {
		if told.Chat == "" {
			told.Chat = "without a name"
		}
		told.Chat += " (id " + Quote(id, MaxValue) + ")"
	}
	for _, n := range c.Notices {
		switch {
		case strings.TrimSpace(n.Text) == "":
		case len(told.Notices) == maxNotices:
			told.Untold++
		default:
			told.Notices = append(told.Notices, line(n.Text, maxNotice))
		}
	}
	return told
}

// time tells the time as people do, with the weekday and the zone.
func (p *Prompter) time(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	at = at.In(p.cfg.Zone)
	zone := p.cfg.Zone.String()
	if p.cfg.Zone == time.Local {
		zone = at.Format("MST")
	}
	return at.Format("Monday, 2006-01-02 15:04 -07:00") + " (" + line(zone, MaxValue) + ")"
}

// value quotes what somebody chose, if it is there.
func value(text string) string {
	if text == "" {
		return ""
	}
	return Quote(text, MaxValue)
}

// people names who takes part, each person once.
func (p *Prompter) people(all []parley.Identity) string {
	var shown []string
	more := 0
	for _, i := range persons(all) {
		text := ""
		if len(shown) < maxPeople {
			text = p.person(i)
		}
		if text == "" {
			more++
			continue
		}
		shown = append(shown, text)
	}
	return counted(shown, more)
}

// persons gives one identity of each user: the first, or the first with a name.
func persons(all []parley.Identity) []parley.Identity {
	var list []parley.Identity
	at := map[parley.UserID]int{}
	for _, i := range all {
		n, known := at[i.User]
		switch {
		case i.User == "" || !known:
			at[i.User] = len(list)
			list = append(list, i)
		case list[n].Name == "":
			list[n] = i
		}
	}
	return list
}

// person gives somebody's name, and the id if ids are shown; "" if there is
// neither.
func (p *Prompter) person(i parley.Identity) string {
	name, id := group.Name(parley.Sender{Name: i.Name}), p.ids.User(i.ID)
	switch {
	case name == "" && id == "":
		return ""
	case name == "":
		name = "somebody"
	default:
		name = Quote(name, group.MaxName)
	}
	var remarks []string
	if i.Bot {
		remarks = append(remarks, "a program")
	}
	if id != "" {
		remarks = append(remarks, "id "+Quote(id, MaxValue))
	}
	if len(remarks) == 0 {
		return name
	}
	return name + " (" + strings.Join(remarks, ", ") + ")"
}
