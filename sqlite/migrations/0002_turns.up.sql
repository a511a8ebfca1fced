-- Inputs, turns, and what belongs to them.

-- The content of an input is the body of its session:input event, at session << 32 | seq,
-- and the identity of its principal is that of the event.
-- The row outlives its session: then gone has the session's id.
-- An empty hash means that the content was taken away and everything matches it.
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
CREATE INDEX inputs_open ON inputs (session, seq) WHERE state IN ('queued', 'running');

-- Which input a redacted session:input event belonged to.
CREATE TABLE redacted_inputs (
	event  INTEGER PRIMARY KEY,
	origin TEXT NOT NULL,
	id     TEXT NOT NULL
);

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
CREATE INDEX turns_open ON turns (session, id) WHERE state <> 'completed';

-- The journal of open turns.
CREATE TABLE calls (
	nr         INTEGER PRIMARY KEY,
	session    INTEGER NOT NULL,
	turn       TEXT NOT NULL,
	id         TEXT NOT NULL,
	tool       TEXT NOT NULL,
	state      TEXT NOT NULL,
	result     TEXT,
	started_at INTEGER NOT NULL,
	UNIQUE (session, turn, id)
);

CREATE TABLE approvals (
	nr           INTEGER PRIMARY KEY,
	session      INTEGER NOT NULL,
	turn         TEXT NOT NULL,
	call         TEXT NOT NULL,
	tool         TEXT NOT NULL,
	state        TEXT NOT NULL,
	default_     TEXT NOT NULL,
	deadline     INTEGER,
	decided_by   TEXT,
	decided_at   INTEGER,
	requested_at INTEGER NOT NULL,
	UNIQUE (session, turn, call)
);
CREATE INDEX approvals_pending ON approvals (nr) WHERE state = 'pending';

CREATE TABLE notices (
	nr         INTEGER PRIMARY KEY,
	session    INTEGER NOT NULL,
	id         TEXT NOT NULL,
	kind       TEXT NOT NULL,
	text       TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	UNIQUE (session, id)
);
