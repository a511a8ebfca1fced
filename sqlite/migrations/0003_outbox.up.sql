-- What is on its way to a chat.

CREATE TABLE outbox (
	nr           INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	session      INTEGER NOT NULL,
	turn         TEXT,
	seq          INTEGER NOT NULL,
	target       TEXT NOT NULL,
	part         INTEGER NOT NULL,
	text         TEXT NOT NULL,
	state        TEXT NOT NULL,
	attempts     INTEGER NOT NULL,
	next_attempt INTEGER,
	platform_id  TEXT NOT NULL,
	last_error   TEXT NOT NULL,
	created_at   INTEGER NOT NULL
);
CREATE INDEX outbox_session ON outbox (session, seq);
CREATE INDEX outbox_unsettled ON outbox (state, nr) WHERE state NOT IN ('sent', 'dropped');
