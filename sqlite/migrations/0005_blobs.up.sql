-- Media that lie beside the database, and the events that refer to them.

-- unused_since is NULL while an event refers to the blob.
CREATE TABLE blobs (
	nr           INTEGER PRIMARY KEY,
	handle       TEXT NOT NULL UNIQUE,
	type         TEXT NOT NULL,
	size         INTEGER NOT NULL,
	created_at   INTEGER NOT NULL,
	unused_since INTEGER
);
CREATE INDEX blobs_unused ON blobs (unused_since, handle) WHERE unused_since IS NOT NULL;

CREATE TABLE blob_refs (
	blob  INTEGER NOT NULL,
	event INTEGER NOT NULL,
	PRIMARY KEY (blob, event)
) WITHOUT ROWID;
CREATE INDEX blob_refs_event ON blob_refs (event);
