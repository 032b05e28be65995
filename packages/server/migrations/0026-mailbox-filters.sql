-- What is rare in a large mailbox is found without a walk through all of it.

SET LOCAL maintenance_work_mem = '256MB';

-- The index of words goes by mailbox and era, the first 18 bits of the time in an id: 12 days. A search asks for the newest eras first, and what
-- it costs to tell a mailbox's hits from the others' does not grow with the mailbox. Without btree_gin it is by words only, as it was.
DROP INDEX messages_search;
DO $$
BEGIN
  CREATE INDEX messages_search ON messages USING gin ((mailbox_id || substr(id, 5, 4)), search);
EXCEPTION WHEN undefined_object THEN
  CREATE INDEX messages_search ON messages USING gin (search);
END
$$;

-- The list that agents ask for most: what they have not read, which in a mailbox of a million may be nothing.
CREATE INDEX messages_unread ON messages (mailbox_id, id DESC) WHERE NOT is_read AND NOT is_quarantined;
CREATE INDEX messages_starred ON messages (mailbox_id, id DESC) WHERE is_starred AND NOT is_quarantined;
CREATE INDEX messages_outbound ON messages (mailbox_id, id DESC) WHERE direction = 'outbound';
CREATE INDEX messages_flagged ON messages (mailbox_id, id DESC) WHERE flags <> '[]';

DO $$
BEGIN
  CREATE INDEX messages_labels ON messages USING gin (mailbox_id, labels) WHERE labels <> '{}';
EXCEPTION WHEN undefined_object THEN
  CREATE INDEX messages_labels ON messages USING gin (labels) WHERE labels <> '{}';
END
$$;

-- Statements are planned once for all mailboxes. Where one mailbox has most messages, the planner would take every mailbox for one of those, walk
-- all messages by id for the newest of a mailbox, and for one with few messages go through those of all the others. Told that each has
-- a hundred messages, it always takes the index of the mailbox.
ALTER TABLE messages ALTER COLUMN mailbox_id SET (n_distinct = -0.01), ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE messages;
