CREATE TABLE previews (
	nr   INTEGER PRIMARY KEY,
	seq  INTEGER NOT NULL,
	text TEXT NOT NULL
);
INSERT INTO previews SELECT nr, preview_seq, preview FROM heads WHERE preview_seq > 0;
ALTER TABLE heads DROP COLUMN preview;
ALTER TABLE heads DROP COLUMN preview_seq;
