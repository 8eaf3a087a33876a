-- How often the content of events was erased: whoever keeps a copy can tell that it is an old one.
ALTER TABLE sessions ADD COLUMN erasures BIGINT NOT NULL DEFAULT 0;

-- When bytes were last handed in: what nobody refers to may be about to be referred to.
ALTER TABLE blobs ADD COLUMN put_at TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Who has written in which session, when last, and how many messages.
CREATE TABLE authors (
    user_id    TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    last_at    TEXT COLLATE "C" NOT NULL,
    messages   BIGINT NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

CREATE INDEX authors_latest ON authors (user_id, last_at);

CREATE INDEX authors_of_session ON authors (session_id);

-- Escapes that PostgreSQL refuses (half a character, NUL) are made harmless before it looks.
INSERT INTO authors (user_id, session_id, last_at, messages)
SELECT replace(body, '\u', '/u')::json -> 'author' ->> 'user_id', session_id,
       max((replace(body, '\u', '/u')::json ->> 'at') COLLATE "C"), count(*)
FROM events
WHERE kind = 'user_message' AND replace(body, '\u', '/u')::json -> 'author' ->> 'user_id' IS NOT NULL
GROUP BY 1, 2;

-- Which turns refer to which bytes.
CREATE TABLE blob_uses (
    sha256     TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    turn_id    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (sha256, session_id, turn_id)
);

CREATE INDEX blob_uses_of_session ON blob_uses (session_id, turn_id);

INSERT INTO blob_uses (sha256, session_id, turn_id)
SELECT DISTINCT file.value ->> 'sha256', session_id, turn_id
FROM events, json_array_elements(coalesce(replace(body, '\u', '/u')::json -> 'attachments', '[]'::json)) AS file
WHERE kind IN ('user_message', 'tool_result');

CREATE INDEX homes_of_channel ON homes (channel_id, session_id);

-- Which sessions may show less than was recorded: a start looks at these alone.
CREATE TABLE behind (
    session_id TEXT COLLATE "C" PRIMARY KEY REFERENCES sessions (session_id) ON DELETE CASCADE
);

INSERT INTO behind (session_id)
SELECT session_id FROM sessions LEFT JOIN delivered USING (session_id)
WHERE last_seq > coalesce(seq, 0);
