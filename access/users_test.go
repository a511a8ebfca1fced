package access_test

import (
	"testing"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	ctx := t.Context()
	anna, err := w.AddUser(ctx, w.owner, access.NewUser{Name: "Anna"})
	must(t, err)
	if anna.Role != parley.RoleUser || anna.ID == "" {
		t.Errorf("got %+v", anna)
	}
	_, accounts, err := w.User(ctx, w.owner, anna.ID)
	must(t, err)
	if len(accounts) != 1 || accounts[0].ID != "user:"+parley.IdentityID(anna.ID) || accounts[0].Name != "Anna" {
		t.Errorf("her accounts are %+v", accounts)
	}
	for what, c := range map[string]struct {
		n    access.NewUser
		want parley.Code
	}{
		"an id that is taken":      {access.NewUser{ID: anna.ID}, parley.CodeConflict},
		"an account that is taken": {access.NewUser{Identity: "local:owner"}, parley.CodeInvalid},
		"an account of a user":     {access.NewUser{Identity: "telegram:7"}, parley.CodeConflict},
		"no account":               {access.NewUser{Identity: "x"}, parley.CodeInvalid},
		"a role that is none":      {access.NewUser{Role: "king"}, parley.CodeInvalid},
		"an id that is none":       {access.NewUser{ID: "a b"}, parley.CodeInvalid},
		"a name of two lines":      {access.NewUser{Name: "a\nb"}, parley.CodeInvalid},
	} {
		if what == "an account of a user" {
			w.add("seven", parley.RoleUser, "telegram:7")
		}
		_, err := w.AddUser(ctx, w.owner, c.n)
		code(t, what, c.want, err)
	}
	renamed, err := w.RenameUser(ctx, w.owner, anna.ID, "Änne")
	must(t, err)
	if got, _, _ := w.User(ctx, w.owner, anna.ID); got != renamed || got.Name != "Änne" || got.Role != parley.RoleUser {
		t.Errorf("renamed to %+v", got)
	}
	_, err = w.RenameUser(ctx, w.owner, "nobody", "x")
	code(t, "rename nobody", parley.CodeNotFound, err)
	all, err := w.Users(ctx, w.owner, "", 0)
	must(t, err)
	if len(all) != 3 {
		t.Errorf("there are %d users, want 3", len(all))
	}
	me := w.as("telegram:7")
	if _, mine, err := w.User(ctx, me, "seven"); err != nil || len(mine) != 1 {
		t.Errorf("oneself: %v, %v", mine, err)
	}
	_, _, err = w.User(ctx, me, anna.ID)
	_, _, none := w.User(ctx, w.owner, "nobody")
	code(t, "another", parley.CodeNotFound, err)
	code(t, "nobody", parley.CodeNotFound, none)
}

// TestOwnersOnly: everything about other people is for owners with their own credential.
func TestOwnersOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	anna := w.add("anna", parley.RoleUser, "telegram:7")
	w.add("olga", parley.RoleOwner, "telegram:1")
	callers := map[string]access.Caller{"a user": anna, "an owner in a chat": w.speaks(w.bot("telegram"), "1", "")}
	for what, do := range map[string]func(access.Caller) error{
		"list users":    func(c access.Caller) error { _, err := w.Users(t.Context(), c, "", 0); return err },
		"list accounts": func(c access.Caller) error { _, err := w.Identities(t.Context(), c, "", 0); return err },
		"read the audit": func(c access.Caller) error {
			_, err := w.Audit(t.Context(), c, parley.AuditQuery{})
			return err
		},
		"add":    func(c access.Caller) error { _, err := w.AddUser(t.Context(), c, access.NewUser{}); return err },
		"rename": func(c access.Caller) error { _, err := w.RenameUser(t.Context(), c, "anna", "x"); return err },
		"promote": func(c access.Caller) error {
			_, err := w.SetRole(t.Context(), c, "anna", parley.RoleOwner)
			return err
		},
		"remove": func(c access.Caller) error { return w.RemoveUser(t.Context(), c, "anna") },
		"pair":   func(c access.Caller) error { _, err := w.Pair(t.Context(), c, "2222-2222", "", ""); return err },
	} {
		for who, c := range callers {
			code(t, what+" as "+who, parley.CodeForbidden, do(c))
		}
		code(t, what+" as nobody", parley.CodeUnauthorized, do(access.Caller{}))
	}
	if _, role := w.userOf("telegram:7"); role != parley.RoleUser {
		t.Errorf("Anna is %q", role)
	}
}

// TestRoles: a change counts from the next request on, and the last owner stays one.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleUser, "telegram:7")
	token := w.tokenFor("telegram:7")
	set := func(id parley.UserID, role parley.Role, want parley.Code) {
		t.Helper()
		user, err := w.SetRole(t.Context(), w.owner, id, role)
		code(t, string(id)+" becomes "+string(role), want, err)
		if err == nil && user.Role != role {
			t.Errorf("%s is %q, want %q", id, user.Role, role)
		}
	}
	set("owner", parley.RoleUser, parley.CodeConflict)
	code(t, "the last owner is removed", parley.CodeConflict, w.RemoveUser(t.Context(), w.owner, "owner"))
	set("owner", parley.RoleOwner, "")
	set("anna", "king", parley.CodeInvalid)
	set("nobody", parley.RoleUser, parley.CodeNotFound)
	set("anna", parley.RoleGuest, "")
	if p := w.signedIn(token).Caller.Principal(); p.Role != parley.RoleGuest {
		t.Errorf("the next request is of %+v", p)
	}
	set("anna", parley.RoleOwner, "")
	w.wantNote("role_changed", "local:owner", "anna")
	if n := len(w.actions("role_changed")); n != 2 {
		t.Errorf("%d changes are written down, want 2", n)
	}
	set("owner", parley.RoleUser, "") // there is another
	if p := w.signedIn(w.token).Caller.Principal(); p.Role != parley.RoleUser {
		t.Errorf("the former owner's token is of %+v", p)
	}
	set("anna", parley.RoleUser, parley.CodeConflict)
}

// TestRemoveUser: tokens end for good, accounts are nobody's, and what was said stays.
func TestRemoveUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, access.PeopleConfig{})
	w.add("anna", parley.RoleUser, "telegram:7")
	token := w.tokenFor("telegram:7")
	w.session("telegram:one", "telegram:7")
	must(t, w.RemoveUser(t.Context(), w.owner, "anna"))
	code(t, "once more", parley.CodeNotFound, w.RemoveUser(t.Context(), w.owner, "anna"))
	w.add("other", parley.RoleUser, "telegram:7") // the account is free again
	_, err := w.Authenticate(t.Context(), token, "token")
	code(t, "a token from before", parley.CodeUnauthorized, err)
	if got := w.sees(w.as("telegram:7")); len(got) != 1 {
		t.Errorf("the account sees %v, want what it took part in", got)
	}
	w.wantNote("user_removed", "local:owner", "anna")
	if n := len(w.actions("token_revoked")); n != 2 {
		t.Errorf("%d tokens were written down as revoked, want both of hers", n)
	}
}
