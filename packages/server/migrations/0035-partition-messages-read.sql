-- Reads two tables. Others go on to read and write them meanwhile.
ALTER TABLE message_recipients VALIDATE CONSTRAINT message_recipients_organization_id_message_id_fkey;
ALTER TABLE attachments VALIDATE CONSTRAINT attachments_organization_id_message_id_fkey;
