package route

import (
	"strings"

	"github.com/parley-run/parley"
)

// why collects the reasons for a resolution, if somebody asked for them.
type why struct {
	on    bool
	lines []string
}

// add puts a sentence together.
func (w *why) add(parts ...string) {
	if !w.on {
		return
	}
	if w.lines == nil {
		w.lines = make([]string, 0, 8)
	}
	w.lines = append(w.lines, strings.Join(parts, ""))
}

// sender says who is taken to have written the message.
func (w *why) sender(f *facts) {
	if !w.on {
		return
	}
	if f.chatCut {
		w.add("chat ", quote(f.chatRaw), ": a WhatsApp id counts without server, device and plus sign")
	}
	if f.senderCut {
		w.add("sender ", quote(f.senderRaw), ": a WhatsApp id counts without server, device and plus sign")
	}
	if f.ids[1] != "" && f.ids[0] != "" && f.ids[0] != f.ids[1] {
		w.add("sender ", quote(f.sender), ": the alternative id, which stays the same")
	}
	if f.entry != "" {
		w.add("sender ", quote(f.sender), " is ", quote(f.linked), ": identity link ", quote(f.entry))
	}
}

func (w *why) dimensions(dims []parley.Dimension, reason string) {
	if w.on {
		w.add("dimensions ", dimensionsText(dims), ": ", reason)
	}
}

func dimensionsText(dims []parley.Dimension) string {
	names := make([]string, len(dims))
	for i, d := range dims {
		names[i] = string(d)
	}
	return "[" + strings.Join(names, " ") + "]"
}

// added says which dimensions were added to the configured ones, and which one
// might have been.
func (w *why) added(f *facts, topic, sender, group, thread bool) {
	if !w.on {
		return
	}
	if topic {
		w.add("topic added: threads are conversations of their own")
	}
	switch {
	case sender && f.topic != "":
		w.add("sender added: group_sessions_per_user and thread_sessions_per_user are on")
	case sender:
		w.add("sender added: group_sessions_per_user is on")
	case group && !thread && !f.direct() && f.topic != "":
		w.add("sender not added: this is a thread, and thread_sessions_per_user is off")
	}
}

// scope says what became of the dimensions, and who is in the conversation.
func (w *why) scope(r *Resolution, f *facts, isForum bool) {
	if !w.on {
		return
	}
	if isForum && f.chat != "" {
		w.add("chat holds topic ", quote(f.topic), ": topics of a Telegram forum are apart")
	}
	for _, d := range r.Dimensions {
		if _, ok := r.Scope.Values[d]; !ok {
			w.add(string(d), " left out: the message has none")
		}
	}
	_, sender := r.Scope.Values[parley.DimensionSender]
	switch {
	case r.Shared:
		w.add("shared: neither a direct chat nor one sender's")
	case sender:
		w.add("private: one sender's")
	default:
		w.add("private: a direct chat")
	}
}

func (w *why) refusal(err error) {
	if w.on && err != nil {
		w.add("cannot be opened: ", err.Error())
	}
}
