-- What is to be said later: when it is due next, in UTC, follows from the rule and the zone.
CREATE TABLE schedules (
    schedule_id TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL,
    session_id  TEXT NOT NULL,
    rule        TEXT NOT NULL,
    zone        TEXT NOT NULL,
    text        TEXT NOT NULL,
    asks        INTEGER NOT NULL,
    due_at      TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX schedules_due ON schedules (due_at);

CREATE INDEX schedules_of_user ON schedules (user_id, due_at);

CREATE TABLE time_zones (
    user_id TEXT PRIMARY KEY,
    zone    TEXT NOT NULL
) WITHOUT ROWID;
