CREATE TABLE sessions (
    session_id  TEXT PRIMARY KEY,
    user_id     TEXT,
    state       TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    version     INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    window_from INTEGER NOT NULL,
    open_turns  TEXT NOT NULL,
    holder      TEXT
);

CREATE INDEX sessions_of_user ON sessions (user_id, updated_at);

CREATE INDEX sessions_open ON sessions (session_id) WHERE open_turns <> '[]';

CREATE TABLE events (
    session_id  TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    seq         INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    natural_key TEXT,
    body        TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;

-- What may exist once in the whole store: a message, a call's start and result, a decision.
CREATE UNIQUE INDEX events_natural_key ON events (natural_key) WHERE natural_key IS NOT NULL;

CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY,
    data   BLOB NOT NULL
);

-- What people see: belongs to the front end.
CREATE TABLE deliveries (
    session_id   TEXT NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    turn_id      TEXT NOT NULL,
    subject      TEXT NOT NULL,
    purpose      TEXT NOT NULL,
    part         INTEGER NOT NULL,
    channel_id   INTEGER NOT NULL,
    message_id   INTEGER,
    content_hash TEXT NOT NULL,
    final        INTEGER NOT NULL,
    PRIMARY KEY (session_id, turn_id, subject, purpose, part)
) WITHOUT ROWID;

CREATE INDEX deliveries_message ON deliveries (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE delivered (
    session_id TEXT PRIMARY KEY REFERENCES sessions (session_id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE places (
    channel_id INTEGER PRIMARY KEY,
    seen_up_to INTEGER NOT NULL
);

CREATE TABLE marks (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
