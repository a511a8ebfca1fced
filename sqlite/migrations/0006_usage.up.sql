-- What completed turns consumed, by agent, day and identity.

-- day counts from 1970-01-01, in UTC; identity is '' where the event names nobody.
-- Rows outlive the sessions they come from.
CREATE TABLE usage (
	agent              TEXT NOT NULL,
	day                INTEGER NOT NULL,
	identity           TEXT NOT NULL,
	input_tokens       INTEGER NOT NULL,
	output_tokens      INTEGER NOT NULL,
	cache_read_tokens  INTEGER NOT NULL,
	cache_write_tokens INTEGER NOT NULL,
	cost_microusd      INTEGER NOT NULL,
	PRIMARY KEY (agent, day, identity)
) WITHOUT ROWID;
CREATE INDEX usage_identity ON usage (identity, day);
CREATE INDEX usage_day ON usage (day);

-- What the sessions that are there have consumed so far. The day is rounded down,
-- also before 1970.
INSERT INTO usage
SELECT p.agent, (e.at - (e.at % 86400000000 + 86400000000) % 86400000000) / 86400000000, ifnull(e.identity, ''),
	sum(ifnull(e.body ->> '$.usage.input_tokens', 0)), sum(ifnull(e.body ->> '$.usage.output_tokens', 0)),
	sum(ifnull(e.body ->> '$.usage.cache_read_tokens', 0)), sum(ifnull(e.body ->> '$.usage.cache_write_tokens', 0)),
	sum(ifnull(e.body ->> '$.usage.cost_microusd', 0))
FROM events e JOIN sessions s ON s.nr = e.id >> 32 JOIN snapshots p ON p.nr = s.snapshot
WHERE e.type = 'session:turn_completed' AND json_valid(e.body)
GROUP BY 1, 2, 3;
DELETE FROM usage WHERE input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + cost_microusd = 0;
