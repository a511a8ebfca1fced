-- A session's preview lies with its head: a list reads one page less for each session,
-- and a turn writes one less. preview_seq is the seq of the message it was made from; 0: there is none.

ALTER TABLE heads ADD COLUMN preview_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN preview TEXT NOT NULL DEFAULT '';
UPDATE heads SET
	preview_seq = (SELECT seq FROM previews p WHERE p.nr = heads.nr),
	preview = (SELECT text FROM previews p WHERE p.nr = heads.nr)
WHERE nr IN (SELECT nr FROM previews);
DROP TABLE previews;
