-- Messages: the raw bytes once, threads, the reference index that joins them, attachments, and per-recipient delivery.

-- btree_gin keeps mailbox search flat as other mailboxes grow; without it (a database that does not offer it) search still works.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS btree_gin;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'btree_gin is not available: %', SQLERRM;
END
$$;

-- Bytes as they arrived, stored once an organization however many of its mailboxes got them. Small ones stay in the row.
CREATE TABLE raw_messages (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  -- Of the bytes as the sender gave them, without our trace fields: a sender that lost our 250 and comes again is recognised.
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  bytes bytea,
  blob_key text UNIQUE,
  created_at timestamptz NOT NULL,
  CHECK ((bytes IS NULL) <> (blob_key IS NULL)),
  UNIQUE (organization_id, id)
);
ALTER TABLE raw_messages ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE threads (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  subject text NOT NULL,
  snippet text NOT NULL,
  message_count integer NOT NULL CHECK (message_count >= 0),
  last_message_at timestamptz NOT NULL,
  last_message_id text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  UNIQUE (mailbox_id, id),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX threads_latest ON threads (mailbox_id, last_message_id DESC);

-- Every Message-ID that a mailbox has seen, as a message of its own or in References, and the thread that owns it. A parent that arrives
-- after its children finds their thread here.
CREATE TABLE thread_references (
  mailbox_id text NOT NULL,
  reference text NOT NULL CHECK (octet_length(reference) <= 998),
  thread_id text NOT NULL,
  -- The message that carries this Message-ID, once it is here.
  message_id text,
  PRIMARY KEY (mailbox_id, reference),
  FOREIGN KEY (mailbox_id, thread_id) REFERENCES threads (mailbox_id, id) ON DELETE CASCADE
);
CREATE INDEX thread_references_thread ON thread_references (thread_id);

CREATE TABLE messages (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  thread_id text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  status text NOT NULL CHECK (
    (direction = 'inbound' AND status IN ('received', 'quarantined'))
    OR (direction = 'outbound' AND status IN ('queued', 'sent', 'delivered', 'bounced', 'failed'))
  ),
  from_address text NOT NULL,
  from_name text NOT NULL DEFAULT '',
  to_addresses text[] NOT NULL DEFAULT '{}',
  cc_addresses text[] NOT NULL DEFAULT '{}',
  bcc_addresses text[] NOT NULL DEFAULT '{}',
  reply_to text[] NOT NULL DEFAULT '{}',
  subject text NOT NULL,
  snippet text NOT NULL,
  text text NOT NULL,
  html text NOT NULL,
  extracted_text text NOT NULL,
  -- RFC 5322 fields, with their angle brackets.
  rfc_message_id text,
  in_reply_to text,
  in_reply_to_message_id text,
  reference_ids text[] NOT NULL DEFAULT '{}',
  -- Inbound: what arrived. Outbound: the caller's custom headers.
  headers jsonb NOT NULL DEFAULT '{}',
  spf text,
  dkim text,
  dmarc text,
  envelope_from text,
  labels text[] NOT NULL DEFAULT '{}',
  is_read boolean NOT NULL,
  is_starred boolean NOT NULL DEFAULT false,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  attachment_count integer NOT NULL CHECK (attachment_count >= 0),
  -- Inbound messages have raw bytes; outbound ones are composed from their fields, the same bytes each time.
  raw_id text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Filled by the insert from subject, addresses and the first 60,000 characters of text.
  search tsvector NOT NULL,
  UNIQUE (organization_id, id),
  CHECK (direction = 'outbound' OR raw_id IS NOT NULL),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, thread_id) REFERENCES threads (organization_id, id),
  FOREIGN KEY (organization_id, raw_id) REFERENCES raw_messages (organization_id, id)
);
CREATE INDEX messages_newest_organization ON messages (organization_id, id DESC) WHERE status <> 'quarantined';
CREATE INDEX messages_newest ON messages (mailbox_id, id DESC);
CREATE INDEX messages_thread ON messages (thread_id, id DESC);
CREATE INDEX messages_raw ON messages (raw_id) WHERE raw_id IS NOT NULL;

DO $$
BEGIN
  CREATE INDEX messages_search ON messages USING gin (mailbox_id, search);
EXCEPTION WHEN undefined_object THEN
  CREATE INDEX messages_search ON messages USING gin (search);
END
$$;

-- Ids of deleted messages, so that deleting again answers 200 and an id that never was answers 404.
CREATE TABLE deleted_messages (
  mailbox_id text NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  message_id text NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (mailbox_id, message_id)
);

-- How many messages a mailbox lists, in shards: concurrent arrivals to one mailbox would queue up behind a single counter row.
CREATE TABLE message_counts (
  mailbox_id text NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  organization_id text NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (mailbox_id, shard)
) WITH (fillfactor = 50);
CREATE INDEX message_counts_organization ON message_counts (organization_id);

CREATE TABLE attachments (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  message_id text NOT NULL,
  position integer NOT NULL,
  filename text NOT NULL,
  content_type text NOT NULL,
  content_id text,
  is_inline boolean NOT NULL DEFAULT false,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  -- Where the bytes are: a range of the message's raw bytes with its transfer encoding, a blob, or (small) the row itself.
  raw_start integer,
  raw_end integer,
  encoding text CHECK (encoding IN ('base64', 'quoted-printable', 'identity')),
  blob_key text,
  bytes bytea,
  created_at timestamptz NOT NULL,
  CHECK (num_nonnulls(raw_start, blob_key, bytes) = 1),
  CHECK ((raw_start IS NULL) = (raw_end IS NULL) AND (raw_start IS NULL) = (encoding IS NULL)),
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX attachments_message ON attachments (message_id, position);
ALTER TABLE attachments ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- One row a recipient of an outbound message: what became of it.
CREATE TABLE message_recipients (
  organization_id text NOT NULL,
  message_id text NOT NULL,
  position smallint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('to', 'cc', 'bcc')),
  name text NOT NULL DEFAULT '',
  address text NOT NULL,
  status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'sent', 'delivered', 'bounced', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  last_answer text,
  diagnostic_code text,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  PRIMARY KEY (message_id, position),
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE
);
