-- Reads two tables. Others go on to read and write them meanwhile.
ALTER TABLE messages VALIDATE CONSTRAINT messages_organization_id_raw_id_fkey;
ALTER TABLE attachments VALIDATE CONSTRAINT attachments_organization_id_raw_id_fkey;
