package tool

import (
	"slices"

	"github.com/parley-run/parley"
)

// Rule says who may have a tool run. It is about those who have one of the roles
// or are one of the users; without roles and users it is about everybody.
//
// Of all rules that fit a person and a tool the strictest counts: a refusal before
// an approval, that before a permission. Their order does not matter, and a
// permission does not take back what another rule refuses. If none fits, guests
// have no tools, users all but files, commands and commits, owners all.
//
// Commits (git_commit) are made in a person's name, so each needs an approval,
// unless a rule that names them, and not all tools alike, and that names the roles
// or users it is for, allows them.
type Rule struct {
	Tool   string // the name of a tool or a group, or * for all
	Roles  []parley.Role
	Users  []parley.UserID
	Effect parley.ToolEffect
}

// everyTool is what a rule about all tools has for a name.
const everyTool = "*"

// The groups that a role without rules does not have, or only with an approval.
const (
	groupFiles   = "files"
	groupCommand = "run_command"
	groupCommit  = "git_commit"
)

func (r *Rule) validate() error {
	if r.Tool != everyTool && !validName.MatchString(r.Tool) {
		return parley.Errorf(parley.CodeInvalid, "a rule cannot be about the tool %s; give the name of a tool or a group, or * for all", quote(r.Tool))
	}
	if strictness(r.Effect) < 0 {
		return parley.Errorf(parley.CodeInvalid, "the rule about %s has the effect %s; it must be allow, approve or deny", r.Tool, quote(string(r.Effect)))
	}
	for _, role := range r.Roles {
		if role != parley.RoleOwner && role != parley.RoleUser && role != parley.RoleGuest {
			return parley.Errorf(parley.CodeInvalid, "the rule about %s has the role %s; it must be owner, user or guest", r.Tool, quote(string(role)))
		}
	}
	if slices.Contains(r.Users, "") {
		return parley.Errorf(parley.CodeInvalid, "the rule about %s has a user without a name", r.Tool)
	}
	return nil
}

// fits reports whether the rule is about a person and a tool.
func (r *Rule) fits(p parley.Principal, e *entry) bool {
	if r.Tool != everyTool && !e.is(r.Tool) {
		return false
	}
	if !r.personal() {
		return true
	}
	return slices.Contains(r.Roles, p.Role) || p.User != "" && slices.Contains(r.Users, p.User)
}

// personal reports whether the rule names whom it is about.
func (r *Rule) personal() bool { return len(r.Roles) > 0 || len(r.Users) > 0 }

// is reports whether name is that of the tool or its group.
func (e *entry) is(name string) bool { return e.spec.Name == name || e.group == name }

// judgement is what the policy says about a tool, and why.
type judgement struct {
	effect parley.ToolEffect
	why    string
}

// judge finds what a person may do with a tool.
func (r *Registry) judge(p parley.Principal, e *entry) judgement {
	var effect parley.ToolEffect
	named := false // a rule allows just this, to just them
	for i := range r.cfg.Rules {
		rule := &r.cfg.Rules[i]
		if !rule.fits(p, e) {
			continue
		}
		if strictness(rule.Effect) > strictness(effect) {
			effect = rule.Effect
		}
		named = named || rule.Effect == parley.ToolAllow && rule.Tool != everyTool && rule.personal()
	}
	who := "somebody with the role " + string(p.Role)
	reason := "the policy says so"
	if effect == "" {
		effect, reason = byDefault(p.Role, e), "no rule is about it"
	}
	if effect == parley.ToolAllow && e.is(groupCommit) && !named {
		effect, reason = parley.ToolApprove, "no rule allows commits by name"
	}
	switch effect {
	case parley.ToolAllow:
		return judgement{effect, "the tool " + e.spec.Name + " is allowed for " + who + ": " + reason}
	case parley.ToolApprove:
		return judgement{effect, "the tool " + e.spec.Name + " needs an approval for " + who + ": " + reason}
	}
	return judgement{parley.ToolDeny, "the tool " + e.spec.Name + " is not allowed for " + who + ": " + reason}
}

// byDefault is what holds where no rule fits.
func byDefault(role parley.Role, e *entry) parley.ToolEffect {
	switch {
	case role == parley.RoleOwner:
		return parley.ToolAllow
	case role == parley.RoleUser && !e.is(groupFiles) && !e.is(groupCommand) && !e.is(groupCommit):
		return parley.ToolAllow
	}
	return parley.ToolDeny
}

// strictness orders the effects; nothing comes before a permission, and what is
// not known before everything.
func strictness(e parley.ToolEffect) int {
	return slices.Index([]parley.ToolEffect{parley.ToolAllow, parley.ToolApprove, parley.ToolDeny}, e)
}
