DROP TABLE notices;
DROP TABLE approvals;
DROP TABLE calls;
DROP TABLE turns;
DROP TABLE redacted_inputs;
DROP TABLE inputs;
