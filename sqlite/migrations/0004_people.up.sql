-- People and their accounts.

CREATE TABLE users (
	id         TEXT PRIMARY KEY,
	name       TEXT NOT NULL,
	role       TEXT NOT NULL,
	created_at INTEGER
) WITHOUT ROWID;

CREATE TABLE identities (
	id         TEXT PRIMARY KEY,
	user       TEXT,
	name       TEXT NOT NULL,
	bot        INTEGER NOT NULL,
	created_at INTEGER
) WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user) WHERE user IS NOT NULL;
