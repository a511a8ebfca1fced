DROP TABLE identities;
DROP TABLE users;
