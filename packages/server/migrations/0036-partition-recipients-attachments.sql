-- Others queue behind this step while it waits, so it gives up before PostgreSQL looks for a deadlock, and is tried again.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE message_recipients IN ACCESS EXCLUSIVE MODE;
SET LOCAL lock_timeout = '50ms';
LOCK TABLE attachments IN ACCESS EXCLUSIVE MODE;
LOCK TABLE drafts, messages, raw_messages IN SHARE ROW EXCLUSIVE MODE;

SELECT partition_table('message_recipients', 'message_id');
SELECT partition_table('attachments', 'id');
DROP FUNCTION bound_first_partition(text, text, text), partition_table(text, text);
