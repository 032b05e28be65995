-- Drafts: messages in the making, the ids of those that were sent, and attachments that are a draft's before they are a message's.

CREATE TABLE drafts (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  thread_id text,
  in_reply_to_message_id text,
  -- The fields of a reply, taken over when the draft is made: it can be sent after the message that it answers is gone.
  in_reply_to text,
  reference_ids text[] NOT NULL DEFAULT '{}',
  forward_of_message_id text,
  reply_all boolean NOT NULL,
  forward_attachments boolean NOT NULL,
  -- As they were given, names included.
  to_addresses text[] NOT NULL DEFAULT '{}',
  cc_addresses text[] NOT NULL DEFAULT '{}',
  bcc_addresses text[] NOT NULL DEFAULT '{}',
  subject text,
  snippet text,
  text text,
  html text,
  headers jsonb NOT NULL DEFAULT '{}',
  version integer NOT NULL CHECK (version >= 1),
  attachment_count integer NOT NULL CHECK (attachment_count >= 0),
  -- A scheduled draft has one job that counts: an older one of the same draft does nothing.
  send_at timestamptz,
  job_id text,
  send_error text,
  -- Whether the last to write it was the agent itself: under draft approval that one is not sent by its schedule.
  is_written_by_agent boolean NOT NULL,
  -- Made anew with every change; sorts like a time, and no two are the same.
  change_id text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CHECK ((send_at IS NULL) = (job_id IS NULL)),
  CHECK (in_reply_to_message_id IS NULL OR forward_of_message_id IS NULL),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX drafts_latest ON drafts (mailbox_id, change_id DESC);

-- Ids of sent drafts and what became of them, so that sending again answers 409 and an id that never was answers 404.
CREATE TABLE sent_drafts (
  mailbox_id text NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  draft_id text NOT NULL,
  message_id text NOT NULL,
  sent_at timestamptz NOT NULL,
  PRIMARY KEY (mailbox_id, draft_id)
);

-- An attachment is a draft's or a message's. A forwarded one shares the bytes of the original: the same blob, or the same range of the
-- raw message, which is named here when it is not that of the attachment's own message.
ALTER TABLE attachments ALTER COLUMN message_id DROP NOT NULL;
ALTER TABLE attachments ADD COLUMN draft_id text;
ALTER TABLE attachments ADD COLUMN raw_id text;
ALTER TABLE attachments ADD CHECK (num_nonnulls(message_id, draft_id) = 1);
ALTER TABLE attachments ADD CHECK (draft_id IS NULL OR raw_start IS NULL);
ALTER TABLE attachments ADD CHECK (raw_id IS NULL OR raw_start IS NOT NULL);
ALTER TABLE attachments ADD FOREIGN KEY (organization_id, draft_id) REFERENCES drafts (organization_id, id) ON DELETE CASCADE;
ALTER TABLE attachments ADD FOREIGN KEY (organization_id, raw_id) REFERENCES raw_messages (organization_id, id);
CREATE INDEX attachments_draft ON attachments (draft_id, position) WHERE draft_id IS NOT NULL;
CREATE INDEX attachments_raw ON attachments (raw_id) WHERE raw_id IS NOT NULL;
CREATE INDEX attachments_blob ON attachments (blob_key) WHERE blob_key IS NOT NULL;

-- `required`: the agent's own key writes drafts, an organization key sends them.
ALTER TABLE identities ADD COLUMN draft_approval text NOT NULL DEFAULT 'none' CHECK (draft_approval IN ('none', 'required'));
