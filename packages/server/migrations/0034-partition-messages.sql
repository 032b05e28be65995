-- Others queue behind this step while it waits, so it gives up before PostgreSQL looks for a deadlock, and is tried again.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE messages IN ACCESS EXCLUSIVE MODE;
SET LOCAL lock_timeout = '50ms';
LOCK TABLE message_recipients, attachments IN ACCESS EXCLUSIVE MODE;
LOCK TABLE mailboxes, threads, raw_messages IN SHARE ROW EXCLUSIVE MODE;

-- References to a table have to name it after it is partitioned. The next step checks them.
ALTER TABLE message_recipients DROP CONSTRAINT message_recipients_organization_id_message_id_fkey;
ALTER TABLE attachments DROP CONSTRAINT attachments_organization_id_message_id_fkey;
SELECT partition_table('messages', 'id');
ALTER TABLE message_recipients ADD CONSTRAINT message_recipients_organization_id_message_id_fkey
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE NOT VALID;
ALTER TABLE attachments ADD CONSTRAINT attachments_organization_id_message_id_fkey
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE NOT VALID;
