-- Credentials, as hashes, and what people did that others may ask about.

-- Rows outlive the identity they are of: who has no row has no role.
CREATE TABLE tokens (
	id           TEXT PRIMARY KEY,
	hash         BLOB NOT NULL UNIQUE,
	kind         TEXT NOT NULL,
	name         TEXT NOT NULL,
	identity     TEXT,
	namespace    TEXT NOT NULL,
	agent        TEXT NOT NULL,
	created_at   INTEGER,
	expires_at   INTEGER,
	last_used_at INTEGER,
	revoked_at   INTEGER
) WITHOUT ROWID;
CREATE INDEX tokens_identity ON tokens (identity, id) WHERE identity IS NOT NULL;

CREATE TABLE passcodes (
	hash       BLOB PRIMARY KEY,
	kind       TEXT NOT NULL,
	identity   TEXT NOT NULL,
	created_at INTEGER,
	expires_at INTEGER NOT NULL,
	UNIQUE (identity, kind)
) WITHOUT ROWID;
CREATE INDEX passcodes_expiry ON passcodes (expires_at);

-- Lines outlive the sessions they name. Each index has the lines of one thing in
-- their order.
CREATE TABLE audit (
	nr      INTEGER PRIMARY KEY,
	at      INTEGER NOT NULL,
	action  TEXT NOT NULL,
	actor   TEXT,
	via     TEXT NOT NULL,
	session TEXT,
	subject TEXT NOT NULL,
	detail  TEXT NOT NULL
);
CREATE INDEX audit_action ON audit (action);
CREATE INDEX audit_actor ON audit (actor) WHERE actor IS NOT NULL;
CREATE INDEX audit_actor_action ON audit (actor, action) WHERE actor IS NOT NULL;
CREATE INDEX audit_session ON audit (session) WHERE session IS NOT NULL;
