-- Events, inputs and turns lie in the order they came, so that what a group of commits adds goes to
-- the end of a table. A row that comes between others makes SQLite spread a full page over its neighbours and
-- write them all anew, and soon again. Indexes find the rows; their entries are small, so their pages are full
-- far less often.

-- id is log << 32 | seq, and a log's number is that of the session that writes it.
ALTER TABLE events RENAME TO events_before;
CREATE TABLE events (
	pos      INTEGER PRIMARY KEY,
	id       INTEGER NOT NULL,
	type     TEXT NOT NULL,
	turn     TEXT,
	at       INTEGER NOT NULL,
	identity TEXT,
	body     TEXT NOT NULL
);
INSERT INTO events SELECT pos, id, type, turn, at, identity, body FROM events_before ORDER BY pos;
DROP TABLE events_before;
CREATE UNIQUE INDEX events_id ON events (id);

-- The content of an input is the body of its session:input event, at session << 32 | seq,
-- and the identity of its principal is that of the event.
-- The row outlives its session: then gone has the session's id.
-- An empty hash means that the content was taken away and everything matches it.
DROP INDEX inputs_open;
ALTER TABLE inputs RENAME TO inputs_before;
CREATE TABLE inputs (
	nr         INTEGER PRIMARY KEY,
	origin     TEXT NOT NULL,
	id         TEXT NOT NULL,
	session    INTEGER NOT NULL,
	seq        INTEGER NOT NULL,
	hash       BLOB NOT NULL,
	kind       TEXT NOT NULL,
	state      TEXT NOT NULL,
	user       TEXT,
	role       TEXT,
	via        TEXT,
	busy       TEXT,
	decision   TEXT,
	not_before INTEGER,
	turn       TEXT,
	shown      INTEGER,
	at         INTEGER NOT NULL,
	gone       TEXT
);
INSERT INTO inputs (origin, id, session, seq, hash, kind, state, user, role, via, busy, decision, not_before, turn, shown, at, gone)
SELECT origin, id, session, seq, hash, kind, state, user, role, via, busy, decision, not_before, turn, shown, at, gone
FROM inputs_before;
DROP TABLE inputs_before;
CREATE UNIQUE INDEX inputs_name ON inputs (origin, id);
CREATE INDEX inputs_open ON inputs (session, seq) WHERE state IN ('queued', 'running');

DROP INDEX turns_open;
ALTER TABLE turns RENAME TO turns_before;
CREATE TABLE turns (
	nr           INTEGER PRIMARY KEY,
	session      INTEGER NOT NULL,
	id           TEXT NOT NULL,
	state        TEXT NOT NULL,
	attempt      INTEGER NOT NULL,
	cancel       INTEGER NOT NULL,
	stop_reason  TEXT NOT NULL,
	prompt       TEXT,
	usage        TEXT,
	opaque       BLOB,
	parked_until INTEGER,
	started_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL
);
INSERT INTO turns (session, id, state, attempt, cancel, stop_reason, prompt, usage, opaque, parked_until, started_at, updated_at)
SELECT session, id, state, attempt, cancel, stop_reason, prompt, usage, opaque, parked_until, started_at, updated_at
FROM turns_before;
DROP TABLE turns_before;
CREATE UNIQUE INDEX turns_id ON turns (session, id);
CREATE INDEX turns_open ON turns (session, id) WHERE state <> 'completed';
