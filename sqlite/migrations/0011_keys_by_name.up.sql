-- Sessions and keys know each other by name: a list reads one page less for each session,
-- and a lookup one less. sessions.key is a key's name (before: heads.key, its number);
-- keys.current is a session's id (before: keys.session, its number). NULL: none.
-- aliases.key stays a number.

ALTER TABLE sessions ADD COLUMN key TEXT;
UPDATE sessions SET key = (SELECT k.key FROM heads h JOIN keys k ON k.nr = h.key WHERE h.nr = sessions.nr);
CREATE INDEX sessions_key ON sessions (key) WHERE key IS NOT NULL;
DROP INDEX heads_key;
ALTER TABLE heads DROP COLUMN key;

ALTER TABLE keys ADD COLUMN current TEXT;
UPDATE keys SET current = (SELECT s.id FROM sessions s WHERE s.nr = keys.session) WHERE session IS NOT NULL;
DROP INDEX keys_session;
ALTER TABLE keys DROP COLUMN session;
CREATE INDEX keys_current ON keys (current) WHERE current IS NOT NULL;
