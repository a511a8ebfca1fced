-- What brings a delivery to its chat, and the chat a session was last spoken to from.

ALTER TABLE sessions ADD COLUMN chat TEXT;

DROP INDEX outbox_session;
DROP INDEX outbox_unsettled;
ALTER TABLE outbox RENAME TO outbox_before;

-- chat is the channel, the account and the chat of the target, one per line. first is the
-- number of the first part of what was split, and a delivery's own if it is that.
CREATE TABLE outbox (
	nr           INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	session      INTEGER NOT NULL,
	turn         TEXT,
	kind         TEXT NOT NULL,
	call         TEXT,
	seq          INTEGER NOT NULL,
	target       TEXT NOT NULL,
	chat         TEXT NOT NULL,
	first        INTEGER NOT NULL,
	part         INTEGER NOT NULL,
	text         TEXT NOT NULL,
	markup       TEXT NOT NULL,
	draft        INTEGER NOT NULL,
	again        INTEGER NOT NULL,
	state        TEXT NOT NULL,
	attempts     INTEGER NOT NULL,
	next_attempt INTEGER,
	attempted_at INTEGER,
	platform_id  TEXT NOT NULL,
	last_error   TEXT NOT NULL,
	created_at   INTEGER NOT NULL
);
INSERT INTO outbox
SELECT nr, id, session, turn, 'message', NULL, seq, target,
	(target ->> '$.channel') || char(10) || ifnull(target ->> '$.account', '') || char(10) || (target ->> '$.chat'),
	nr, part, text, '', 0, 0, state, attempts, next_attempt, NULL, platform_id, last_error, created_at
FROM outbox_before ORDER BY nr;
DROP TABLE outbox_before;

CREATE INDEX outbox_session ON outbox (session, seq);
CREATE INDEX outbox_open ON outbox (first, part, nr) WHERE state IN ('pending', 'sending', 'unknown');
CREATE INDEX outbox_chat ON outbox (chat, first, part, nr) WHERE state IN ('pending', 'sending', 'unknown');
CREATE INDEX outbox_stuck ON outbox (state, first, part, nr) WHERE state IN ('held', 'dead');
CREATE INDEX outbox_drafts ON outbox (session) WHERE draft = 1;
