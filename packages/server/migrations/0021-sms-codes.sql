-- What a text asks its reader to type or to open, found when it is filed.
ALTER TABLE sms_messages ADD COLUMN codes jsonb NOT NULL DEFAULT '[]';
