-- How often the content of events was erased: whoever keeps a copy can tell that it is an old one.
ALTER TABLE sessions ADD COLUMN erasures INTEGER NOT NULL DEFAULT 0;

-- When bytes were last handed in: what nobody refers to may be about to be referred to.
ALTER TABLE blobs ADD COLUMN put_at TEXT NOT NULL DEFAULT '';

-- Who has written in which session, when last, and how many messages.
CREATE TABLE authors (
    user_id    TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    last_at    TEXT NOT NULL,
    messages   INTEGER NOT NULL,
    PRIMARY KEY (user_id, session_id)
) WITHOUT ROWID;

CREATE INDEX authors_latest ON authors (user_id, last_at);

CREATE INDEX authors_of_session ON authors (session_id);

INSERT INTO authors (user_id, session_id, last_at, messages)
SELECT json_extract(body, '$.author.user_id') AS author, session_id,
       max(json_extract(body, '$.at')), count(*)
FROM events
WHERE kind = 'user_message' AND author IS NOT NULL
GROUP BY author, session_id;

-- Which turns refer to which bytes.
CREATE TABLE blob_uses (
    sha256     TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    turn_id    TEXT NOT NULL,
    PRIMARY KEY (sha256, session_id, turn_id)
) WITHOUT ROWID;

CREATE INDEX blob_uses_of_session ON blob_uses (session_id, turn_id);

INSERT INTO blob_uses (sha256, session_id, turn_id)
SELECT DISTINCT json_extract(file.value, '$.sha256'), session_id, turn_id
FROM events, json_each(events.body, '$.attachments') AS file
WHERE kind IN ('user_message', 'tool_result');

CREATE INDEX homes_of_channel ON homes (channel_id, session_id);

-- Which sessions may show less than was recorded: a start looks at these alone.
CREATE TABLE behind (
    session_id TEXT PRIMARY KEY REFERENCES sessions (session_id) ON DELETE CASCADE
) WITHOUT ROWID;

INSERT INTO behind (session_id)
SELECT session_id FROM sessions LEFT JOIN delivered USING (session_id)
WHERE last_seq > coalesce(seq, 0);
