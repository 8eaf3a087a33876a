-- In which turns messages of others quote whom: what is forgotten goes there too.
CREATE TABLE quoted (
    user_id    TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    turn_id    TEXT NOT NULL,
    PRIMARY KEY (user_id, session_id, turn_id)
) WITHOUT ROWID;

CREATE INDEX quoted_in_session ON quoted (session_id, turn_id);
