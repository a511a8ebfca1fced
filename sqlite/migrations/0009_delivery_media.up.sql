-- The media that go with a delivery, as a list; empty: none.

ALTER TABLE outbox ADD COLUMN media TEXT NOT NULL DEFAULT '';
