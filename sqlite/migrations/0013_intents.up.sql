-- Up to which number the batches that were written down beside the store are applied, and whose they are. A commit changes
-- the row each time, so it has a page of its own.
CREATE TABLE intents (
	nr      INTEGER PRIMARY KEY CHECK (nr = 0),
	applied INTEGER NOT NULL,
	id      TEXT NOT NULL
);
INSERT INTO intents (nr, applied, id) VALUES (0, 0, lower(hex(randomblob(16))));
