-- Sessions, their logs, and the names that lead to them.

CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value
) WITHOUT ROWID;

-- Agents as they were configured when sessions started; many sessions share one.
CREATE TABLE snapshots (
	nr     INTEGER PRIMARY KEY,
	agent  TEXT NOT NULL,
	hash   BLOB NOT NULL UNIQUE,
	config TEXT
);

-- What is written once or seldom. A number is never given twice, because a log
-- can outlive its session in a fork.
CREATE TABLE sessions (
	nr              INTEGER PRIMARY KEY AUTOINCREMENT,
	id              TEXT NOT NULL UNIQUE,
	snapshot        INTEGER NOT NULL,
	source          TEXT NOT NULL,
	type            TEXT NOT NULL,
	ended_at        INTEGER,
	ended_reason    TEXT NOT NULL DEFAULT '',
	recovery_reason TEXT NOT NULL DEFAULT '',
	recovery_at     INTEGER,
	strikes         INTEGER NOT NULL DEFAULT 0,
	title           TEXT NOT NULL DEFAULT '',
	title_seq       INTEGER NOT NULL DEFAULT 0,
	description     TEXT NOT NULL DEFAULT '',
	busy            TEXT NOT NULL DEFAULT '',
	metadata        TEXT,
	parent          TEXT,
	created_at      INTEGER NOT NULL
);

-- What every commit looks at or changes, apart from the rest so that it reads
-- and rewrites few bytes. hidden is 1 for inactive sessions; a fork shares its
-- parent's events up to parent_seq.
CREATE TABLE heads (
	nr                 INTEGER PRIMARY KEY,
	key                INTEGER,
	parent_seq         INTEGER NOT NULL,
	recovery           TEXT NOT NULL,
	status             TEXT NOT NULL,
	hidden             INTEGER NOT NULL,
	fence              INTEGER NOT NULL,
	queued             INTEGER NOT NULL,
	last_seq           INTEGER NOT NULL,
	messages           INTEGER NOT NULL,
	turns              INTEGER NOT NULL,
	input_tokens       INTEGER NOT NULL,
	output_tokens      INTEGER NOT NULL,
	cache_read_tokens  INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cost_microusd      INTEGER NOT NULL,
	last_prompt_tokens INTEGER NOT NULL,
	updated_at         INTEGER NOT NULL
);
CREATE INDEX heads_recent ON heads (hidden, updated_at);
CREATE INDEX heads_key ON heads (key) WHERE key IS NOT NULL;

CREATE TABLE previews (
	nr   INTEGER PRIMARY KEY,
	seq  INTEGER NOT NULL,
	text TEXT NOT NULL
);

-- id is log << 32 | seq, and a log's number is that of the session that writes it.
CREATE TABLE events (
	id       INTEGER PRIMARY KEY,
	pos      INTEGER NOT NULL,
	type     TEXT NOT NULL,
	turn     TEXT,
	at       INTEGER NOT NULL,
	identity TEXT,
	body     TEXT NOT NULL
);
CREATE UNIQUE INDEX events_pos ON events (pos);

-- The logs a fork shares, each up to and including a seq. A session's own log is
-- not listed.
CREATE TABLE session_logs (
	session INTEGER NOT NULL,
	log     INTEGER NOT NULL,
	upto    INTEGER NOT NULL,
	PRIMARY KEY (session, log)
) WITHOUT ROWID;
CREATE INDEX session_logs_log ON session_logs (log);

CREATE TABLE keys (
	nr      INTEGER PRIMARY KEY,
	key     TEXT NOT NULL UNIQUE,
	session INTEGER,
	scope   TEXT
);
CREATE INDEX keys_session ON keys (session) WHERE session IS NOT NULL;

CREATE TABLE aliases (
	alias TEXT PRIMARY KEY,
	key   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX aliases_key ON aliases (key);

CREATE TABLE participants (
	session  INTEGER NOT NULL,
	identity TEXT NOT NULL,
	PRIMARY KEY (session, identity)
) WITHOUT ROWID;
CREATE INDEX participants_identity ON participants (identity, session);
