-- In which server and channel a session is: belongs to the front end, and may come before it.
CREATE TABLE homes (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    server_id  BIGINT NOT NULL,
    channel_id BIGINT NOT NULL
);

CREATE INDEX homes_of_server ON homes (server_id, session_id);

CREATE FUNCTION end_home() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM homes WHERE session_id = OLD.session_id;
    RETURN OLD;
END
$$;

CREATE TRIGGER homes_end AFTER DELETE ON sessions
FOR EACH ROW EXECUTE FUNCTION end_home();
