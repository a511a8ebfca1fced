DROP INDEX turns_open;
DROP INDEX turns_id;
ALTER TABLE turns RENAME TO turns_after;
CREATE TABLE turns (
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
	updated_at   INTEGER NOT NULL,
	PRIMARY KEY (session, id)
) WITHOUT ROWID;
INSERT INTO turns SELECT session, id, state, attempt, cancel, stop_reason, prompt, usage, opaque, parked_until, started_at, updated_at
FROM turns_after;
DROP TABLE turns_after;
CREATE INDEX turns_open ON turns (session, id) WHERE state <> 'completed';

DROP INDEX inputs_open;
DROP INDEX inputs_name;
ALTER TABLE inputs RENAME TO inputs_after;
CREATE TABLE inputs (
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
	gone       TEXT,
	PRIMARY KEY (origin, id)
) WITHOUT ROWID;
INSERT INTO inputs SELECT origin, id, session, seq, hash, kind, state, user, role, via, busy, decision, not_before, turn, shown, at, gone
FROM inputs_after;
DROP TABLE inputs_after;
CREATE INDEX inputs_open ON inputs (session, seq) WHERE state IN ('queued', 'running');

DROP INDEX events_id;
ALTER TABLE events RENAME TO events_after;
CREATE TABLE events (
	id       INTEGER PRIMARY KEY,
	pos      INTEGER NOT NULL,
	type     TEXT NOT NULL,
	turn     TEXT,
	at       INTEGER NOT NULL,
	identity TEXT,
	body     TEXT NOT NULL
);
INSERT INTO events SELECT id, pos, type, turn, at, identity, body FROM events_after ORDER BY id;
DROP TABLE events_after;
CREATE UNIQUE INDEX events_pos ON events (pos);
