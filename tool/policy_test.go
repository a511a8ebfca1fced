package tool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/tool"
)

const (
	allow   = parley.ToolAllow
	approve = parley.ToolApprove
	deny    = parley.ToolDeny
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	owner, user, guest := parley.RoleOwner, parley.RoleUser, parley.RoleGuest
	rule := func(name string, effect parley.ToolEffect, roles ...parley.Role) tool.Rule {
		return tool.Rule{Tool: name, Effect: effect, Roles: roles}
	}
	ann := tool.Rule{Tool: "run_command", Effect: allow, Users: []parley.UserID{"ann"}}
	for _, tt := range []struct {
		title string
		rules []tool.Rule
		role  parley.Role
		user  parley.UserID
		want  string // effects of read_file, run_command, http_request, git_commit, search_find
	}{
		{"no rules, owner", nil, owner, "", "allow allow allow approve allow"},
		{"no rules, user", nil, user, "ann", "deny deny allow deny allow"},
		{"no rules, guest", nil, guest, "", "deny deny deny deny deny"},
		{"a rule for a role", []tool.Rule{rule("http_request", approve, user)}, user, "", "deny deny approve deny allow"},
		{"a rule for another role", []tool.Rule{rule("http_request", approve, user)}, owner, "", "allow allow allow approve allow"},
		{"a rule for everybody", []tool.Rule{rule("http_request", allow)}, guest, "", "deny deny allow deny deny"},
		{"a rule for a group", []tool.Rule{rule("files", approve, user)}, user, "", "approve deny allow deny allow"},
		{"a rule for a tool of a group", []tool.Rule{rule("read_file", allow, user)}, user, "", "allow deny allow deny allow"},
		{"group and tool", []tool.Rule{rule("files", allow, user), rule("read_file", deny, user)}, user, "", "deny deny allow deny allow"},
		{"deny before approve before allow", []tool.Rule{rule("search", allow), rule("search", approve), rule("*", deny, guest), rule("http_request", allow), rule("http_request", approve)}, user, "", "deny deny approve deny approve"},
		{"the order does not matter", []tool.Rule{rule("search", deny), rule("search", allow)}, owner, "", "allow allow allow approve deny"},
		{"nor the other way round", []tool.Rule{rule("search", allow), rule("search", deny)}, owner, "", "allow allow allow approve deny"},
		{"all tools", []tool.Rule{rule("*", deny)}, owner, "", "deny deny deny deny deny"},
		{"a permission takes nothing back", []tool.Rule{rule("*", deny), rule("http_request", allow, owner)}, owner, "", "deny deny deny deny deny"},
		{"a user by name", []tool.Rule{ann}, user, "ann", "deny allow allow deny allow"},
		{"another user", []tool.Rule{ann}, user, "bob", "deny deny allow deny allow"},
		{"nobody by name", []tool.Rule{ann}, user, "", "deny deny allow deny allow"},
		{"role or user", []tool.Rule{{Tool: "files", Effect: allow, Roles: []parley.Role{guest}, Users: []parley.UserID{"ann"}}}, user, "ann", "allow deny allow deny allow"},
		{"commits, all tools", []tool.Rule{rule("*", allow, owner, user)}, user, "", "allow allow allow approve allow"},
		{"commits, everybody", []tool.Rule{rule("git_commit", allow)}, owner, "", "allow allow allow approve allow"},
		{"commits, by name", []tool.Rule{rule("git_commit", allow, owner)}, owner, "", "allow allow allow allow allow"},
		{"commits, by name, another role", []tool.Rule{rule("git_commit", allow, owner)}, user, "", "deny deny allow deny allow"},
		{"commits, by name and an approval", []tool.Rule{rule("git_commit", allow, owner), rule("*", approve)}, owner, "", "approve approve approve approve approve"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			r, err := tool.New(usual(), tool.Config{Rules: tt.rules})
			if err != nil {
				t.Fatal(err)
			}
			p := who(tt.role, tt.user)
			s, err := r.For(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got, offered []string
			for _, name := range []string{"read_file", "run_command", "http_request", "git_commit", "search_find"} {
				effect, why := s.Effect(parley.ToolCall{Name: name})
				got = append(got, string(effect))
				if !strings.Contains(why, name) || !strings.Contains(why, string(tt.role)) {
					t.Errorf("%s: the reason %q does not say what it is about", name, why)
				}
				if effect != deny {
					offered = append(offered, name)
				}
				// What is denied does not run, however it is called.
				res, err := s.Run(t.Context(), parley.ToolCaller{Principal: p}, parley.ToolCall{ID: "c", Name: name})
				if err != nil || res.IsError != (effect == deny) || strings.HasPrefix(res.Text, "ran ") == (effect == deny) {
					t.Errorf("%s is %s and gives %+v, %v", name, effect, res, err)
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
			var names []string
			for _, spec := range s.Specs() {
				names = append(names, spec.Name)
			}
			slices.Sort(offered)
			if names = slices.DeleteFunc(names, func(n string) bool { return n == "write_file" }); !slices.Equal(names, offered) {
				t.Errorf("the model is told of %v, not %v", names, offered)
			}
		})
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	r, err := tool.New(usual(), tool.Config{Rules: []tool.Rule{{Tool: "read_file", Effect: deny, Roles: []parley.Role{parley.RoleOwner}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		title string
		role  parley.Role
		only  []string
		want  []string
	}{
		{"all", parley.RoleOwner, nil, []string{"git_commit", "http_request", "run_command", "search_find", "write_file"}},
		{"none", parley.RoleOwner, []string{}, nil},
		{"a tool", parley.RoleOwner, []string{"search_find"}, []string{"search_find"}},
		{"a group", parley.RoleOwner, []string{"files"}, []string{"write_file"}},
		{"a group and a tool of another", parley.RoleOwner, []string{"search_find", "files", "files"}, []string{"search_find", "write_file"}},
		{"what is denied stays so", parley.RoleOwner, []string{"read_file"}, nil},
		{"nor does it give a user more", parley.RoleUser, []string{"files", "http_request"}, []string{"http_request"}},
		{"nor a guest", parley.RoleGuest, []string{"http_request"}, nil},
	} {
		s, err := r.For(who(tt.role, ""), tt.only)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, spec := range s.Specs() {
			names = append(names, spec.Name)
		}
		if diff := cmp.Diff(tt.want, names); diff != "" {
			t.Errorf("%s: %s", tt.title, diff)
		}
	}
	s, err := r.For(who(parley.RoleOwner, ""), []string{"search"})
	if err != nil {
		t.Fatal(err)
	}
	if effect, why := s.Effect(parley.ToolCall{Name: "http_request"}); effect != deny || !strings.Contains(why, "not a part of this session") {
		t.Errorf("got %s, %s", effect, why)
	}
	_, err = r.For(who(parley.RoleOwner, ""), []string{"serach"})
	wantCode(t, err, parley.CodeInvalid, "did you mean search")
	_, err = r.For(who("king", ""), nil)
	wantCode(t, err, parley.CodeInvalid, "king")
	// A set serves the person it was made for.
	_, err = s.Run(t.Context(), parley.ToolCaller{Principal: who(parley.RoleGuest, "")}, parley.ToolCall{ID: "c", Name: "search_find"})
	wantCode(t, err, parley.CodeInternal, "somebody else")
}
