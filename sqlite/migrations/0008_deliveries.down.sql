DROP INDEX outbox_session;
DROP INDEX outbox_open;
DROP INDEX outbox_chat;
DROP INDEX outbox_stuck;
DROP INDEX outbox_drafts;
ALTER TABLE outbox RENAME TO outbox_after;
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
INSERT INTO outbox
SELECT nr, id, session, turn, seq, target, part, text, state, attempts, next_attempt, platform_id, last_error, created_at
FROM outbox_after ORDER BY nr;
DROP TABLE outbox_after;
CREATE INDEX outbox_session ON outbox (session, seq);
CREATE INDEX outbox_unsettled ON outbox (state, nr) WHERE state NOT IN ('sent', 'dropped');
ALTER TABLE sessions DROP COLUMN chat;
