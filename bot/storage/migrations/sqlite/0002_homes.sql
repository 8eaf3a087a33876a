-- In which server and channel a session is: belongs to the front end, and may come before it.
CREATE TABLE homes (
    session_id TEXT PRIMARY KEY,
    server_id  INTEGER NOT NULL,
    channel_id INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX homes_of_server ON homes (server_id, session_id);

CREATE TRIGGER homes_end AFTER DELETE ON sessions
BEGIN
    DELETE FROM homes WHERE session_id = old.session_id;
END;
