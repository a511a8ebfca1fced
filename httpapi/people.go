package httpapi

import (
	"net/http"
	"strconv"

	"github.com/parley-run/parley"
	"github.com/parley-run/parley/access"
)

func (s *Server) peopleRoutes() {
	add(s, signedIn, endpoint[none, meOut]{
		method: http.MethodGet, path: "/api/me", name: "whoAmI", summary: "Who asks, with which credential.", do: (*call).me,
	})
	add(s, owners, endpoint[pageIn, usersOut]{
		method: http.MethodGet, path: "/api/users", name: "listUsers", summary: "Everybody.", do: (*call).users,
	})
	add(s, owners, endpoint[addUserIn, userOut]{
		method: http.MethodPost, path: "/api/users", name: "addUser", status: http.StatusCreated, summary: "Add somebody, with one account.", do: (*call).addUser,
	})
	add(s, signedIn, endpoint[userIn, userOut]{
		method: http.MethodGet, path: "/api/users/{id}", name: "readUser", summary: "A user and their accounts: owners see everybody, others themselves.", do: (*call).user,
	})
	add(s, owners, endpoint[patchUserIn, userOut]{
		method: http.MethodPatch, path: "/api/users/{id}", name: "patchUser",
		summary: "Give a user another name or role. A role counts from the next request on, and open streams of theirs end.", do: (*call).patchUser,
	})
	add(s, owners, endpoint[userIn, removedOut]{
		method: http.MethodDelete, path: "/api/users/{id}", name: "removeUser",
		summary: "Remove a user: their tokens end, their accounts are nobody's, what they said stays.", do: (*call).removeUser,
	})
	add(s, owners, endpoint[pageIn, identitiesOut]{
		method: http.MethodGet, path: "/api/identities", name: "listIdentities", summary: "All accounts, also those that are nobody's.", do: (*call).identities,
	})
	add(s, owners, endpoint[auditIn, auditOut]{
		method: http.MethodGet, path: "/api/audit", name: "readAudit", summary: "What people did that others may ask about, the newest first.", do: (*call).audit,
	})
}

type meOut struct {
	Identity   parley.IdentityID `json:"identity"`
	User       *parley.User      `json:"user,omitempty"`
	Identities []parley.Identity `json:"identities"`
	Role       parley.Role       `json:"role,omitempty"`
	Via        string            `json:"via,omitempty" jsonschema:"how the request was authenticated"`
	Token      parley.TokenID    `json:"token_id,omitempty"`
	Kind       parley.TokenKind  `json:"token_kind,omitempty"`
	Namespace  string            `json:"namespace,omitempty" jsonschema:"of a channel's token"`
}

func (c *call) me(_ *none) (meOut, error) {
	p := c.cred.Caller.Principal()
	out := meOut{
		Identity: p.Identity, Role: p.Role, Via: p.Via, Token: c.cred.Token, Kind: c.cred.Kind, Namespace: c.cred.Caller.Namespace(),
		Identities: []parley.Identity{},
	}
	if p.User == "" || out.Namespace != "" {
		return out, nil
	}
	user, identities, err := c.cfg.People.User(c.r.Context(), c.cred.Caller, p.User)
	if err != nil {
		return out, err
	}
	out.User, out.Identities = &user, identities
	return out, nil
}

type pageIn struct {
	Limit  int    `query:"limit" json:"-" jsonschema:"how many at most; 50 if it is not given, never more than 1000"`
	Cursor string `query:"cursor" json:"-" jsonschema:"that of the page before"`
}

// nextPage gives the cursor that goes on after a full page.
func nextPage(kind string, limit, got int, last string) string {
	if got < parley.PageSize(limit) {
		return ""
	}
	return cursorOf(kind, "", last)
}

type usersOut struct {
	Users  []parley.User `json:"users"`
	Cursor string        `json:"cursor"`
}

func (c *call) users(in *pageIn) (usersOut, error) {
	after, err := readCursor("users", "", in.Cursor)
	if err != nil {
		return usersOut{}, err
	}
	list, err := c.cfg.People.Users(c.r.Context(), c.cred.Caller, parley.UserID(after), in.Limit)
	out := usersOut{Users: append([]parley.User{}, list...)}
	if n := len(list); n > 0 {
		out.Cursor = nextPage("users", in.Limit, n, string(list[n-1].ID))
	}
	return out, err
}

type addUserIn struct {
	ID       parley.UserID     `json:"id,omitempty" jsonschema:"one is made if it is not given"`
	Name     string            `json:"name,omitempty"`
	Role     parley.Role       `json:"role,omitempty" jsonschema:"owner, user or guest; user if it is not given"`
	Identity parley.IdentityID `json:"identity,omitempty" jsonschema:"the account they begin with, such as telegram:7; user:<id> if it is not given"`
}

type userOut struct {
	User       parley.User       `json:"user"`
	Identities []parley.Identity `json:"identities"`
}

func (c *call) addUser(in *addUserIn) (userOut, error) {
	user, err := c.cfg.People.AddUser(c.r.Context(), c.cred.Caller, access.NewUser{ID: in.ID, Name: in.Name, Role: in.Role, Identity: in.Identity})
	if err != nil {
		return userOut{}, err
	}
	return c.user(&userIn{ID: user.ID})
}

type userIn struct {
	ID parley.UserID `path:"id" json:"-" jsonschema:"the user"`
}

func (c *call) user(in *userIn) (userOut, error) {
	user, identities, err := c.cfg.People.User(c.r.Context(), c.cred.Caller, in.ID)
	return userOut{User: user, Identities: append([]parley.Identity{}, identities...)}, err
}

type patchUserIn struct {
	ID   parley.UserID `path:"id" json:"-" jsonschema:"the user"`
	Name *string       `json:"name,omitempty"`
	Role *parley.Role  `json:"role,omitempty" jsonschema:"owner, user or guest"`
}

func (c *call) patchUser(in *patchUserIn) (userOut, error) {
	ctx := c.r.Context()
	if in.Role != nil {
		if _, err := c.cfg.People.SetRole(ctx, c.cred.Caller, in.ID, *in.Role); err != nil {
			return userOut{}, err
		}
	}
	if in.Name != nil {
		if _, err := c.cfg.People.RenameUser(ctx, c.cred.Caller, in.ID, *in.Name); err != nil {
			return userOut{}, err
		}
	}
	return c.user(&userIn{ID: in.ID})
}

type removedOut struct {
	Removed bool `json:"removed"`
}

func (c *call) removeUser(in *userIn) (removedOut, error) {
	err := c.cfg.People.RemoveUser(c.r.Context(), c.cred.Caller, in.ID)
	return removedOut{Removed: err == nil}, err
}

type identitiesOut struct {
	Identities []parley.Identity `json:"identities"`
	Cursor     string            `json:"cursor"`
}

func (c *call) identities(in *pageIn) (identitiesOut, error) {
	after, err := readCursor("identities", "", in.Cursor)
	if err != nil {
		return identitiesOut{}, err
	}
	list, err := c.cfg.People.Identities(c.r.Context(), c.cred.Caller, parley.IdentityID(after), in.Limit)
	out := identitiesOut{Identities: append([]parley.Identity{}, list...)}
	if n := len(list); n > 0 {
		out.Cursor = nextPage("identities", in.Limit, n, string(list[n-1].ID))
	}
	return out, err
}

type auditIn struct {
	Action  string            `query:"action" json:"-"`
	Actor   parley.IdentityID `query:"actor" json:"-"`
	Session parley.SessionID  `query:"session" json:"-"`
	Limit   int               `query:"limit" json:"-" jsonschema:"how many at most; 50 if it is not given, never more than 1000"`
	Cursor  string            `query:"cursor" json:"-" jsonschema:"that of the page before"`
}

type auditOut struct {
	Entries []parley.AuditEntry `json:"entries"`
	Cursor  string              `json:"cursor"`
}

func (c *call) audit(in *auditIn) (auditOut, error) {
	before, err := readCount("audit", "", in.Cursor)
	if err != nil {
		return auditOut{}, err
	}
	list, err := c.cfg.People.Audit(c.r.Context(), c.cred.Caller, parley.AuditQuery{
		Before: before, Action: in.Action, Actor: in.Actor, Session: in.Session, Limit: in.Limit,
	})
	out := auditOut{Entries: append([]parley.AuditEntry{}, list...)}
	if n := len(list); n > 0 {
		out.Cursor = nextPage("audit", in.Limit, n, strconv.FormatUint(list[n-1].Nr, 10))
	}
	return out, err
}
