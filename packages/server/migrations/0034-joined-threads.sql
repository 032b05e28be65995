-- Threads that a later message shows to be one conversation become one. The thread that was dropped stays as a pointer, so that its id still leads there.
ALTER TABLE threads ADD COLUMN joined_into text;
ALTER TABLE threads ADD FOREIGN KEY (mailbox_id, joined_into) REFERENCES threads (mailbox_id, id) ON DELETE CASCADE;
ALTER TABLE threads ADD CHECK (joined_into IS NULL OR (message_count = 0 AND joined_into <> id));
CREATE INDEX threads_joined_into ON threads (mailbox_id, joined_into) WHERE joined_into IS NOT NULL;
CREATE INDEX drafts_thread ON drafts (thread_id) WHERE thread_id IS NOT NULL;

-- An id that only a quarantined message carries: it finds copies of that message, and joins no thread.
ALTER TABLE thread_references ADD COLUMN is_quarantined boolean NOT NULL DEFAULT false;
