DROP TABLE audit;
DROP TABLE passcodes;
DROP TABLE tokens;
