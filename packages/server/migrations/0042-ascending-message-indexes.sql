-- The newest message of a mailbox or an organization is the last entry of its range in these indexes. PostgreSQL splits a full page behind it, so
-- that pages stay full. At the beginning of a range it splits in the middle, which takes twice the space and more time for each message. Lists
-- read these indexes backwards.

-- Messages are read while the indexes are built, and written afterwards.
CREATE INDEX messages_newest_organization_ascending ON messages (organization_id, id) WHERE NOT is_hidden;
CREATE INDEX messages_direction_organization_ascending ON messages (organization_id, direction, id) WHERE NOT is_hidden;
CREATE INDEX messages_newest_ascending ON messages (mailbox_id, is_hidden, id);
CREATE INDEX messages_unread_ascending ON messages (mailbox_id, id) WHERE NOT is_read AND NOT is_hidden;
CREATE INDEX messages_outbound_ascending ON messages (mailbox_id, id) WHERE direction = 'outbound';

DROP INDEX messages_newest_organization, messages_direction_organization, messages_newest, messages_unread, messages_outbound;
ALTER INDEX messages_newest_organization_ascending RENAME TO messages_newest_organization;
ALTER INDEX messages_direction_organization_ascending RENAME TO messages_direction_organization;
ALTER INDEX messages_newest_ascending RENAME TO messages_newest;
ALTER INDEX messages_unread_ascending RENAME TO messages_unread;
ALTER INDEX messages_outbound_ascending RENAME TO messages_outbound;
