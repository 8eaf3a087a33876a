-- What was decided about tools, in their order and for ever: the rules that hold are what is last.
CREATE TABLE policy_changes (
    scope     TEXT NOT NULL, -- server-1, or a session
    at        TEXT NOT NULL,
    change_id TEXT NOT NULL,
    kind      TEXT NOT NULL, -- rule, grant, revoke
    subject   TEXT NOT NULL, -- a tool, or the id of a grant
    body      TEXT NOT NULL,
    by_user   TEXT NOT NULL,
    PRIMARY KEY (scope, at, change_id)
) WITHOUT ROWID;
