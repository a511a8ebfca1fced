package route

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Links know which ids belong to one person. The zero value knows none. They
// never change, and any number of goroutines may use them.
type Links struct {
	name map[string]string // by id, as it stands in the configuration
}

// CompileLinks makes links from names and the ids they have, and says what is
// wrong with them: an id that two names claim, and, as warnings, ids without a
// channel and ids of WhatsApp that no sender has. Names and ids that are blank are ignored.
func CompileLinks(links map[string][]string) (*Links, []Problem) {
	l := &Links{}
	if len(links) == 0 {
		return l, nil
	}
	var problems []Problem
	l.name = make(map[string]string, len(links))
	from := map[string]string{}    // the name as given, by its normal form
	where := map[string][]string{} // the path of an id
	for _, given := range slices.Sorted(maps.Keys(links)) {
		name := text(given)
		path := []string{"session", "identity_links", given}
		if name == "" {
			problems = append(problems, Problem{Path: path, Message: "the name is blank, so its ids are ignored", Warning: true})
			continue
		}
		if other, ok := from[name]; ok {
			problems = append(problems, Problem{
				Path: path, Message: fmt.Sprintf("is the same name as %q; their ids count together", other), Warning: true,
			})
		}
		from[name] = given
		for i, id := range links[given] {
			id, path := text(id), append(slices.Clone(path), strconv.Itoa(i))
			if id == "" {
				continue
			}
			if short := neverOnWhatsApp(id); short != "" {
				problems = append(problems, Problem{
					Path: path, Warning: true,
					Message: fmt.Sprintf("the id %s never matches, because WhatsApp ids count without server, device and plus sign; write whatsapp:%s", quote(id), short),
				})
			} else if !strings.Contains(id, ":") {
				problems = append(problems, Problem{
					Path:    path,
					Message: fmt.Sprintf("the id %s has no channel, so it is the same person on every channel, and gives no rights; write it as channel:id", quote(id)),
					Warning: true,
				})
			}
			if owner, ok := l.name[id]; ok && owner != name {
				problems = append(problems, claimed(path, id, owner, id))
				continue
			}
			l.name[id], where[id] = name, path
		}
	}
	return l, append(problems, l.overlaps(where)...)
}

// neverOnWhatsApp gives what should stand in place of an id of WhatsApp that is
// written in a form that senders do not have, or nothing.
func neverOnWhatsApp(id string) string {
	_, scoped := strings.CutPrefix(id, channelWhatsApp+":")
	if short := whatsAppOf(id); (scoped || strings.HasSuffix(id, "@s.whatsapp.net")) && id != channelWhatsApp+":"+short {
		return short
	}
	return ""
}

// overlaps finds ids of two names that one sender could match: telegram:7 and 7.
func (l *Links) overlaps(where map[string][]string) []Problem {
	var problems []Problem
	for _, id := range slices.Sorted(maps.Keys(l.name)) {
		// A sender matches by the id itself, with the channel before it, and
		// without what stands before its first colon. So two parts at most lie
		// between the shortest and the longest form.
		rest := id
		for range 2 {
			before, after, ok := strings.Cut(rest, ":")
			if !ok || before == "" || after == "" {
				break
			}
			if other, ok := l.name[after]; ok && other != l.name[id] {
				problems = append(problems, claimed(where[id], id, other, after))
			}
			rest = after
		}
	}
	return problems
}

func claimed(path []string, id, owner, by string) Problem {
	return Problem{Path: path, Message: fmt.Sprintf(
		"the id %s is claimed by %s too, with %s; one sender cannot be two people, so remove one of them", quote(id), quote(owner), quote(by))}
}

// elsewhere reports whether a name has ids, and all of them are of channels other
// than this one.
func (l *Links) elsewhere(channel, name string) bool {
	known := false
	for id, owner := range l.name {
		if owner != name {
			continue
		}
		if known = true; !strings.Contains(id, ":") || strings.HasPrefix(id, channel+":") {
			return false
		}
	}
	return known
}

// find gives the name of a sender and the id that named it, or empty texts.
func (l *Links) find(channel, sender string) (name, id string) {
	if l == nil || len(l.name) == 0 || sender == "" {
		return "", ""
	}
	if name, ok := l.name[sender]; ok {
		return name, sender
	}
	if channel != "" {
		scoped := channel + ":" + sender
		if name, ok := l.name[scoped]; ok {
			return name, scoped
		}
	}
	if before, after, ok := strings.Cut(sender, ":"); ok && before != "" && after != "" {
		if name, ok := l.name[after]; ok {
			return name, after
		}
	}
	return "", ""
}
