-- What each call of a model used. Sessions may be deleted: rows copy what they say of them.
-- NULL tokens were not told by the service; a NULL user is unknown or forgotten.
CREATE TABLE usage (
    turn_id       TEXT COLLATE "C" NOT NULL,
    call          BIGINT NOT NULL,
    at            TEXT COLLATE "C" NOT NULL,
    purpose       TEXT COLLATE "C" NOT NULL,
    user_id       TEXT COLLATE "C",
    server_id     BIGINT,
    session_id    TEXT COLLATE "C" NOT NULL,
    model         TEXT COLLATE "C" NOT NULL,
    input_tokens  BIGINT,
    output_tokens BIGINT,
    cached_tokens BIGINT,
    PRIMARY KEY (turn_id, call)
);

CREATE INDEX usage_by_time ON usage (at, turn_id, call);
CREATE INDEX usage_of_user ON usage (user_id);

-- The same, summed up by day (UTC): budgets and overviews read only this. What all people of a
-- server use has sums of its own, since a budget of theirs is looked at before each call.
-- Server 0 is none, user '' is unknown or forgotten.
CREATE TABLE usage_days (
    server_id     BIGINT NOT NULL,
    day           TEXT COLLATE "C" NOT NULL,
    user_id       TEXT COLLATE "C" NOT NULL,
    calls         BIGINT NOT NULL,
    untold        BIGINT NOT NULL,
    input_tokens  BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    PRIMARY KEY (server_id, day, user_id)
);

CREATE INDEX usage_days_of_user ON usage_days (user_id, day);

CREATE TABLE usage_server_days (
    server_id     BIGINT NOT NULL,
    day           TEXT COLLATE "C" NOT NULL,
    calls         BIGINT NOT NULL,
    untold        BIGINT NOT NULL,
    input_tokens  BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    PRIMARY KEY (server_id, day)
);
