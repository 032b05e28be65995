-- Others queue behind this step while it waits, so it gives up before PostgreSQL looks for a deadlock, and is tried again.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE raw_messages IN ACCESS EXCLUSIVE MODE;
SET LOCAL lock_timeout = '50ms';
LOCK TABLE messages, attachments IN ACCESS EXCLUSIVE MODE;
LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE;

-- References to a table have to name it after it is partitioned. The next step checks them.
ALTER TABLE messages DROP CONSTRAINT messages_organization_id_raw_id_fkey;
ALTER TABLE attachments DROP CONSTRAINT attachments_organization_id_raw_id_fkey;
SELECT partition_table('raw_messages', 'id');
ALTER TABLE messages ADD CONSTRAINT messages_organization_id_raw_id_fkey
  FOREIGN KEY (organization_id, raw_id) REFERENCES raw_messages (organization_id, id) NOT VALID;
ALTER TABLE attachments ADD CONSTRAINT attachments_organization_id_raw_id_fkey
  FOREIGN KEY (organization_id, raw_id) REFERENCES raw_messages (organization_id, id) NOT VALID;
