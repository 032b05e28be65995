-- The reasons are in 0001-account.sql and 0003-mail.sql. Estimates for all partitions of a table together.
ALTER TABLE messages ALTER COLUMN mailbox_id SET (n_distinct = -0.01, n_distinct_inherited = -0.01), ALTER COLUMN organization_id SET (n_distinct = -0.01, n_distinct_inherited = -0.01),
  ALTER COLUMN thread_id SET (n_distinct_inherited = -0.1), ALTER COLUMN raw_id SET (n_distinct_inherited = -0.1);
ANALYZE messages, raw_messages, message_recipients, attachments;
