-- What the checks of the sender found when a message arrived, with their evidence: the API's `authentication` object. Null on outbound messages.
ALTER TABLE messages ADD COLUMN authentication jsonb, DROP COLUMN spf, DROP COLUMN dkim, DROP COLUMN dmarc;
