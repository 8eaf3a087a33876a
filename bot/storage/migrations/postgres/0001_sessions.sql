CREATE TABLE sessions (
    session_id  TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT,
    state       TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    updated_at  TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    last_seq    BIGINT NOT NULL,
    window_from BIGINT NOT NULL,
    open_turns  TEXT NOT NULL,
    holder      TEXT
);

CREATE INDEX sessions_of_user ON sessions (user_id, updated_at);

CREATE INDEX sessions_open ON sessions (session_id) WHERE open_turns <> '[]';

CREATE TABLE events (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    seq         BIGINT NOT NULL,
    kind        TEXT NOT NULL,
    turn_id     TEXT COLLATE "C" NOT NULL,
    natural_key TEXT,
    body        TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- What may exist once in the whole store: a message, a call's start and result, a decision.
CREATE UNIQUE INDEX events_natural_key ON events (natural_key) WHERE natural_key IS NOT NULL;

CREATE TABLE blobs (
    sha256 TEXT PRIMARY KEY,
    data   BYTEA NOT NULL
);

-- What people see: belongs to the front end.
CREATE TABLE deliveries (
    session_id   TEXT COLLATE "C" NOT NULL REFERENCES sessions (session_id) ON DELETE CASCADE,
    turn_id      TEXT COLLATE "C" NOT NULL,
    subject      TEXT COLLATE "C" NOT NULL,
    purpose      TEXT COLLATE "C" NOT NULL,
    part         INTEGER NOT NULL,
    channel_id   BIGINT NOT NULL,
    message_id   BIGINT,
    content_hash TEXT NOT NULL,
    final        BOOLEAN NOT NULL,
    PRIMARY KEY (session_id, turn_id, subject, purpose, part)
);

CREATE INDEX deliveries_message ON deliveries (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE delivered (
    session_id TEXT COLLATE "C" PRIMARY KEY REFERENCES sessions (session_id) ON DELETE CASCADE,
    seq        BIGINT NOT NULL
);

CREATE TABLE places (
    channel_id BIGINT PRIMARY KEY,
    seen_up_to BIGINT NOT NULL
);

CREATE TABLE marks (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
