-- Reads four tables. Others go on to read and write them meanwhile.
ALTER TABLE messages VALIDATE CONSTRAINT first_partition;
ALTER TABLE raw_messages VALIDATE CONSTRAINT first_partition;
ALTER TABLE message_recipients VALIDATE CONSTRAINT first_partition;
ALTER TABLE attachments VALIDATE CONSTRAINT first_partition;
