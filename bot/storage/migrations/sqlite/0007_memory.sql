-- What people let the agent remember of them across sessions, and the words to find it by.
CREATE TABLE memories (
    number    INTEGER PRIMARY KEY,
    memory_id TEXT NOT NULL UNIQUE,
    user_id   TEXT NOT NULL,
    owner     TEXT NOT NULL,
    text      TEXT NOT NULL,
    words     TEXT NOT NULL,
    at        TEXT NOT NULL
);

CREATE UNIQUE INDEX memories_of_user ON memories (user_id, text);

CREATE VIRTUAL TABLE memory_words USING fts5 (
    owner, words, content = 'memories', content_rowid = 'number', tokenize = 'porter unicode61'
);

CREATE TRIGGER memories_made AFTER INSERT ON memories
BEGIN
    INSERT INTO memory_words (rowid, owner, words) VALUES (new.number, new.owner, new.words);
END;

CREATE TRIGGER memories_ended AFTER DELETE ON memories
BEGIN
    INSERT INTO memory_words (memory_words, rowid, owner, words)
    VALUES ('delete', old.number, old.owner, old.words);
END;

-- Who lets it: channel 0 is the consent itself, others are shared channels where it holds too.
CREATE TABLE memory_consents (
    user_id    TEXT NOT NULL,
    channel_id INTEGER NOT NULL,
    at         TEXT NOT NULL,
    PRIMARY KEY (user_id, channel_id)
) WITHOUT ROWID;
