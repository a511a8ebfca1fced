ALTER TABLE keys ADD COLUMN session INTEGER;
UPDATE keys SET session = (SELECT s.nr FROM sessions s WHERE s.id = keys.current) WHERE current IS NOT NULL;
DROP INDEX keys_current;
ALTER TABLE keys DROP COLUMN current;
CREATE INDEX keys_session ON keys (session) WHERE session IS NOT NULL;

ALTER TABLE heads ADD COLUMN key INTEGER;
UPDATE heads SET key = (SELECT k.nr FROM sessions s JOIN keys k ON k.key = s.key WHERE s.nr = heads.nr);
DROP INDEX sessions_key;
ALTER TABLE sessions DROP COLUMN key;
CREATE INDEX heads_key ON heads (key) WHERE key IS NOT NULL;
