-- For which of the times that it is due somebody has begun to say it; whether it was said is not known.
ALTER TABLE schedules ADD COLUMN begun TEXT NOT NULL DEFAULT '';
