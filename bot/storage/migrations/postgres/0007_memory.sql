-- What people let the agent remember of them across sessions, and the words to find it by.
CREATE TABLE memories (
    memory_id TEXT COLLATE "C" PRIMARY KEY,
    user_id   TEXT COLLATE "C" NOT NULL,
    owner     TEXT NOT NULL,
    text      TEXT NOT NULL,
    words     TEXT NOT NULL,
    at        TEXT COLLATE "C" NOT NULL,
    vector    TSVECTOR GENERATED ALWAYS AS (to_tsvector('english', words)) STORED
);

CREATE UNIQUE INDEX memories_of_user ON memories (user_id, text);

-- Who lets it: channel 0 is the consent itself, others are shared channels where it holds too.
CREATE TABLE memory_consents (
    user_id    TEXT COLLATE "C" NOT NULL,
    channel_id BIGINT NOT NULL,
    at         TEXT NOT NULL,
    PRIMARY KEY (user_id, channel_id)
);
