-- What each call of a model used. Sessions may be deleted: rows copy what they say of them.
-- NULL tokens were not told by the service; a NULL user is unknown or forgotten.
CREATE TABLE usage (
    turn_id       TEXT NOT NULL,
    call          INTEGER NOT NULL,
    at            TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    user_id       TEXT,
    server_id     INTEGER,
    session_id    TEXT NOT NULL,
    model         TEXT NOT NULL,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    PRIMARY KEY (turn_id, call)
) WITHOUT ROWID;

CREATE INDEX usage_by_time ON usage (at, turn_id, call);
CREATE INDEX usage_of_user ON usage (user_id);

-- The same, summed up by day (UTC): budgets and overviews read only this. What all people of a
-- server use has sums of its own, since a budget of theirs is looked at before each call.
-- Server 0 is none, user '' is unknown or forgotten.
CREATE TABLE usage_days (
    server_id     INTEGER NOT NULL,
    day           TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    untold        INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    PRIMARY KEY (server_id, day, user_id)
) WITHOUT ROWID;

CREATE INDEX usage_days_of_user ON usage_days (user_id, day);

CREATE TABLE usage_server_days (
    server_id     INTEGER NOT NULL,
    day           TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    untold        INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    PRIMARY KEY (server_id, day)
) WITHOUT ROWID;
