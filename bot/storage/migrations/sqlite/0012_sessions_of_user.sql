-- Each save changes when a session was last updated: no index has to follow it.
DROP INDEX sessions_of_user;

CREATE INDEX sessions_of_user ON sessions (user_id);
