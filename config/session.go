package config

import (
	"time"

	"github.com/parley-run/parley"
)

// Session is which messages share a conversation, and how long one lasts.
type Session struct {
	Dimensions            []parley.Dimension  `yaml:"dimensions" default:"chat" enum:"space,chat,topic,sender" doc:"By what conversations are kept apart."`
	GroupSessionsPerUser  bool                `yaml:"group_sessions_per_user" default:"false" doc:"In groups and channels, a conversation for each person."`
	ThreadSessionsPerUser bool                `yaml:"thread_sessions_per_user" default:"false" doc:"The same in threads, if group_sessions_per_user is on as well."`
	Unified               bool                `yaml:"unified" default:"false" doc:"One conversation for each person over all direct chats."`
	IdentityLinks         map[string][]string `yaml:"identity_links" names:"id" is:"id" doc:"Accounts of one person, by a name for that person, each as channel:id." example:"alice: ['telegram:7', 'slack:U01']"`
	Busy                  parley.BusyMode     `yaml:"busy" default:"queue" enum:"queue,collect,steer,interrupt,reject" doc:"What happens to a message that comes during a turn."`
	Stop                  string              `yaml:"stop" default:"keep" enum:"keep,suspend" doc:"What /stop does to the session, besides ending its turn."`
	Reset                 Reset               `yaml:"reset" doc:"When a conversation starts anew. The old one is kept."`
	Resume                Resume              `yaml:"resume" doc:"Turns that a crash or a restart cut off."`
	InactiveAfter         time.Duration       `yaml:"inactive_after" default:"30d" min:"0s" doc:"When a session nobody used leaves the usual lists; 0 is never. It is kept."`
}

// Reset is when conversations start anew: in general, and by type of chat.
type Reset struct {
	Policy `yaml:",inline"`

	ByType map[string]Policy `yaml:"by_type" keys:"direct,group" doc:"What holds instead for a type of session, direct or group, as a whole: what is not said there is the default." example:"group: {mode: none}"`
}

// Policy is when conversations start anew.
type Policy struct {
	Mode        string `yaml:"mode" default:"both" enum:"both,daily,idle,none" doc:"By what: the hour of the day, a pause, both or nothing."`
	AtHour      int    `yaml:"at_hour" default:"4" min:"0" max:"23" doc:"The hour of the daily reset."`
	IdleMinutes int    `yaml:"idle_minutes" default:"1440" min:"1" max:"5256000" doc:"The pause after which it starts anew, in minutes."`
	Zone        string `yaml:"zone" is:"zone" doc:"The time zone of at_hour, such as Europe/Berlin. Without one it is the machine's."`
	Notify      bool   `yaml:"notify" default:"true" doc:"Say so in the chat, and how to go back."`
	Carry       string `yaml:"carry" default:"tail" enum:"tail,none" doc:"What of the old conversation the next one starts with: its last messages, or nothing."`
}

// Resume is about turns that were cut off.
type Resume struct {
	Freshness time.Duration `yaml:"freshness" default:"1h" min:"0s" doc:"How long ago a turn may have been cut off to go on by itself; 0 is any time."`
	Strikes   int           `yaml:"strikes" default:"3" min:"1" max:"100" doc:"Starts without progress after which the session is suspended."`
}

// Route says which agent answers where.
type Route struct {
	Match      Match              `yaml:"match" doc:"Where: all that is said has to fit; what is empty fits always."`
	Agent      string             `yaml:"agent" doc:"Who answers. Without one it is main."`
	Dimensions []parley.Dimension `yaml:"dimensions" enum:"space,chat,topic,sender" doc:"By what conversations are kept apart there, exactly; [] is by nothing. Without it, as session says."`
	Bots       bool               `yaml:"bots" default:"false" doc:"Messages of bots that reach the agent there get an answer too, a few in a minute. Otherwise they are only read."`
}

// Match is what a route looks at.
type Match struct {
	Channel string `yaml:"channel" is:"id" doc:"The channel, such as telegram."`
	Account string `yaml:"account" is:"id" doc:"The account of ours on it."`
	Space   string `yaml:"space" is:"id" doc:"The server or workspace, as type:id."`
	Chat    string `yaml:"chat" is:"id" doc:"The chat, as type:id, such as group:-1001."`
	Topic   string `yaml:"topic" is:"id" doc:"The topic or thread."`
	Sender  string `yaml:"sender" is:"id" doc:"Who writes: an id, or a name of identity_links."`
}
