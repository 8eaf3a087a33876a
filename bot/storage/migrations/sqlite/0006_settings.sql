-- What servers and channels have of their own: each change with all that held after it.
CREATE TABLE server_settings (
    server_id  INTEGER NOT NULL,
    channel_id INTEGER NOT NULL,  -- 0 for the server itself
    version    INTEGER NOT NULL,
    value      TEXT NOT NULL,
    field      TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    PRIMARY KEY (server_id, channel_id, version)
) WITHOUT ROWID;
