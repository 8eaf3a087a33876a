-- The version after which nothing is to be done in a session until somebody decides or writes.
ALTER TABLE sessions ADD COLUMN rested BIGINT NOT NULL DEFAULT 0;

-- The version of which people see all there is, as what shows it shows it, and until when.
ALTER TABLE behind ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE behind ADD COLUMN shown_by TEXT NOT NULL DEFAULT '';
ALTER TABLE behind ADD COLUMN wake_at TEXT COLLATE "C" NOT NULL DEFAULT '';

-- What tools did, for audits.
CREATE INDEX events_of_tools ON events (session_id, kind, turn_id)
WHERE kind IN ('approval_requested', 'approval_decided', 'tool_started', 'tool_result');
