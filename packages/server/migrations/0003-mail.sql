-- Custom domains, mailboxes, messages, drafts, templates, mail rules, suppressions, limits and counts.

-- DKIM signing keys of the mail domain, which all organizations send from, and of custom domains.
CREATE TABLE dkim_keys (
  id text PRIMARY KEY,
  -- Null for the mail domain. Two organizations may claim one name before either has verified it, each with its own keys.
  organization_id text REFERENCES organizations (id) ON DELETE CASCADE,
  domain text NOT NULL CHECK (domain = lower(domain) AND char_length(domain) BETWEEN 1 AND 253),
  selector text NOT NULL CHECK (selector ~ '^[a-z0-9]{1,63}$'),
  algorithm text NOT NULL CHECK (algorithm IN ('rsa-sha256', 'ed25519-sha256')),
  -- Base64, the value of the record's p= tag.
  public_key text NOT NULL,
  -- PEM, sealed with a key from the keyring.
  private_key text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (domain, selector)
);
CREATE INDEX dkim_keys_owner ON dkim_keys (organization_id, domain);
-- Nodes that start at the same time on an empty database agree on one pair.
CREATE UNIQUE INDEX dkim_keys_mail_domain ON dkim_keys (domain, algorithm) WHERE organization_id IS NULL;

CREATE TABLE domains (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  domain text NOT NULL CHECK (domain = lower(domain) AND char_length(domain) BETWEEN 3 AND 200),
  status text NOT NULL CHECK (status IN ('pending', 'verified', 'failed')),
  is_default boolean NOT NULL,
  -- A verified name's mail belongs to this organization, even while its records are wrong, until another organization verifies the name.
  holds_name boolean NOT NULL,
  provider text NOT NULL,
  provider_domain_id text,
  -- The provider's records, each with its status.
  dns_records jsonb NOT NULL,
  verified_at timestamptz,
  -- Time of the first background check with wrong records since the last check without.
  failing_since timestamptz,
  -- Time of the next background check. Null for domains that are not verified.
  check_at timestamptz,
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CONSTRAINT domains_once UNIQUE (organization_id, domain),
  CHECK ((status = 'verified') = (verified_at IS NOT NULL)),
  CHECK ((status = 'verified') = (check_at IS NOT NULL)),
  CHECK (status <> 'verified' OR holds_name),
  CHECK (status = 'verified' OR failing_since IS NULL)
);
CREATE INDEX domains_newest ON domains (organization_id, id DESC);
CREATE UNIQUE INDEX domains_client_id ON domains (organization_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX domains_check ON domains (check_at) WHERE check_at IS NOT NULL;
-- At most one default per organization, under concurrent requests too.
CREATE UNIQUE INDEX domains_one_default ON domains (organization_id) WHERE is_default;
-- Mail at a name belongs to one organization.
CREATE UNIQUE INDEX domains_one_holder ON domains (domain) WHERE holds_name;
-- One domain per registration at a provider.
CREATE UNIQUE INDEX domains_one_registration ON domains (provider, provider_domain_id) WHERE provider_domain_id IS NOT NULL;

-- Registrations in progress at an external provider. One whose response was lost stays, so that a retry finds the result of the first try.
CREATE TABLE domain_registrations (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  provider text NOT NULL,
  domain text NOT NULL,
  started_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, provider, domain)
);

-- Every address ever made. Each belongs to an identity, and one of them is the primary address in its mailbox. The row of a deleted address
-- stays without an identity, so that only the same organization can make the address again. Two organizations may have rows for one name,
-- because the rows of a custom domain are below its own row in `domains`. Mail goes to the organization that holds the name.
CREATE TABLE addresses (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  identity_id text,
  -- A dot-string (RFC 5321 section 4.1.2) without `+`, which separates a tag. `*` before the @ is the catch-all address of a domain.
  address text NOT NULL CHECK (
    address = lower(address) AND octet_length(split_part(address, '@', 1)) <= 64
    AND address ~ '^[a-z0-9!#$%&''*/=?^_`{|}~-]+(\.[a-z0-9!#$%&''*/=?^_`{|}~-]+)*@[a-z0-9.-]{1,253}$'
  ),
  -- Null for the mail domain, which all organizations share and which has no catch-all address.
  domain_id text CHECK (domain_id IS NOT NULL OR address NOT LIKE '*@%'),
  -- On the mail domain, a local part of the form of a handle takes the handle for the organization.
  handle text GENERATED ALWAYS AS (CASE WHEN domain_id IS NULL THEN substring(address FROM '^([a-z0-9_]{2,32})@') END) STORED,
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  CONSTRAINT addresses_once UNIQUE NULLS NOT DISTINCT (address, domain_id),
  UNIQUE (identity_id, address),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE SET NULL (identity_id),
  FOREIGN KEY (organization_id, domain_id) REFERENCES domains (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, handle) REFERENCES handles (organization_id, handle)
);
CREATE INDEX addresses_newest ON addresses (identity_id, id DESC) WHERE identity_id IS NOT NULL;
CREATE UNIQUE INDEX addresses_client_id ON addresses (organization_id, client_id) WHERE client_id IS NOT NULL AND identity_id IS NOT NULL;
CREATE INDEX addresses_domain ON addresses (domain_id) WHERE domain_id IS NOT NULL;

CREATE TABLE mailboxes (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL UNIQUE,
  -- The primary address of the identity.
  address text NOT NULL CHECK (address NOT LIKE '*@%'),
  -- Retention has deleted the files of all messages up to this id.
  files_deleted_through text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT mailboxes_primary_address FOREIGN KEY (identity_id, address) REFERENCES addresses (identity_id, address)
);
CREATE INDEX mailboxes_newest ON mailboxes (organization_id, id DESC);

-- Messages as they arrived, stored once per organization for all its mailboxes. Small ones stay in the row.
CREATE TABLE raw_messages (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  -- Checksum of the sender's bytes, without our trace fields. It recognises a message that is sent again because our 250 was lost.
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  bytes bytea,
  blob_key text,
  created_at timestamptz NOT NULL,
  CHECK ((bytes IS NULL) <> (blob_key IS NULL)),
  UNIQUE (organization_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX raw_messages_blob ON raw_messages (blob_key) WHERE blob_key IS NOT NULL;
ALTER TABLE raw_messages ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE threads (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  subject text NOT NULL,
  snippet text NOT NULL,
  -- Messages that lists show. A thread of quarantined or trashed messages alone has 0.
  message_count integer NOT NULL CHECK (message_count >= 0),
  -- Of those, the ones that are not read.
  unread_count integer NOT NULL DEFAULT 0 CHECK (unread_count BETWEEN 0 AND message_count),
  -- Messages in the trash. A thread without any other message is in the trash itself, and returns to its folder when it is restored.
  trashed_count integer NOT NULL DEFAULT 0 CHECK (trashed_count >= 0),
  -- Threads in which only the agent has written are in sent, until an answer arrives.
  folder text NOT NULL DEFAULT 'inbox' CHECK (folder IN ('inbox', 'archive', 'spam', 'sent')),
  -- Authors and recipients of its messages in lower case, at most 100.
  participants text[] NOT NULL DEFAULT '{}',
  last_message_at timestamptz NOT NULL,
  last_message_id text NOT NULL,
  created_at timestamptz NOT NULL,
  -- True when the agent has written in the thread. Replies in such a thread are accepted.
  has_outbound boolean NOT NULL DEFAULT false,
  -- A later message may show that two threads are one conversation. The dropped thread stays as a pointer, so that its id still leads
  -- to the messages.
  joined_into text,
  is_unread boolean NOT NULL GENERATED ALWAYS AS (unread_count > 0) STORED,
  metadata jsonb CONSTRAINT threads_metadata CHECK (is_metadata(metadata)),
  UNIQUE (organization_id, id),
  UNIQUE (mailbox_id, id),
  CHECK (joined_into IS NULL OR (message_count = 0 AND trashed_count = 0 AND joined_into <> id)),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (mailbox_id, joined_into) REFERENCES threads (mailbox_id, id) ON DELETE CASCADE
);
-- Folder, unread and sent in the key instead of an index each: a list merges the newest of each combination, and a new message changes two indexes.
CREATE INDEX threads_latest ON threads (mailbox_id, folder, is_unread, has_outbound, last_message_id) WHERE message_count > 0;
CREATE INDEX threads_latest_organization ON threads (organization_id, folder, is_unread, has_outbound, last_message_id) WHERE message_count > 0;
CREATE INDEX threads_trash ON threads (mailbox_id, last_message_id DESC) WHERE message_count = 0 AND trashed_count > 0;
CREATE INDEX threads_trash_organization ON threads (organization_id, last_message_id DESC) WHERE message_count = 0 AND trashed_count > 0;
CREATE INDEX threads_joined_into ON threads (mailbox_id, joined_into) WHERE joined_into IS NOT NULL;

-- Labels of threads, and keys of their metadata with the value, with the thread's latest message, so that the threads of each are a keyset list
-- too.
CREATE TABLE thread_marks (
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  thread_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('label', 'metadata')),
  -- The label, or the hash of a key with its value.
  mark text NOT NULL CHECK (char_length(mark) BETWEEN 1 AND 100),
  last_message_id text NOT NULL,
  PRIMARY KEY (thread_id, kind, mark),
  FOREIGN KEY (organization_id, thread_id) REFERENCES threads (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (mailbox_id, thread_id) REFERENCES threads (mailbox_id, id) ON DELETE CASCADE
);
CREATE INDEX thread_marks_latest ON thread_marks (mailbox_id, kind, mark, last_message_id DESC);
CREATE INDEX thread_marks_latest_organization ON thread_marks (organization_id, kind, mark, last_message_id DESC);

-- Labels of mailboxes with their colors. Messages and threads may have labels without a row here.
CREATE TABLE labels (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  color text NOT NULL CHECK (color ~ '^#[0-9a-fA-F]{6}$'),
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT labels_once UNIQUE (mailbox_id, name),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX labels_newest ON labels (mailbox_id, id DESC);
CREATE UNIQUE INDEX labels_client_id ON labels (organization_id, client_id) WHERE client_id IS NOT NULL;

-- Every Message-ID that a mailbox has seen, in its own message or in References, and the thread that owns it. A parent that arrives after
-- its replies finds their thread here.
CREATE TABLE thread_references (
  mailbox_id text NOT NULL,
  reference text NOT NULL CHECK (octet_length(reference) <= 998),
  thread_id text NOT NULL,
  -- The message with this Message-ID, once it has arrived.
  message_id text,
  -- Only a quarantined message has this id. The row finds copies of that message, and joins no thread.
  is_quarantined boolean NOT NULL DEFAULT false,
  PRIMARY KEY (mailbox_id, reference),
  FOREIGN KEY (mailbox_id, thread_id) REFERENCES threads (mailbox_id, id) ON DELETE CASCADE
);
CREATE INDEX thread_references_thread ON thread_references (thread_id);

-- Fails the transaction with this SQLSTATE from inside a statement, so that the transaction starts again. OR REPLACE, as for is_metadata.
CREATE OR REPLACE FUNCTION fail_transaction(code text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RAISE EXCEPTION 'a row is not as the transaction expects it' USING ERRCODE = code;
END
$$;

-- Tags are `name:value`, and each name occurs once.
CREATE OR REPLACE FUNCTION is_tags(tags text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT count(*) BETWEEN 1 AND 50 AND count(DISTINCT split_part(tag, ':', 1)) = count(*)
    AND bool_and(tag ~ '^[A-Za-z0-9_-]+:[A-Za-z0-9_-]+$' AND char_length(tag) <= 513) FROM unnest(tags) AS tag);
END
$$;

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
  -- The new text without quoted replies. Null if it is a beginning of `text`, whose length is then in extracted_characters.
  extracted_text text,
  -- RFC 5322 fields, with their angle brackets.
  rfc_message_id text,
  in_reply_to text,
  in_reply_to_message_id text,
  reference_ids text[] NOT NULL DEFAULT '{}',
  -- Header fields of an inbound message, or the caller's custom headers of an outbound one.
  headers jsonb NOT NULL DEFAULT '{}',
  envelope_from text,
  -- The address of the mailbox that an inbound message came to, without a tag.
  envelope_to text,
  labels text[] NOT NULL DEFAULT '{}',
  is_read boolean NOT NULL,
  is_starred boolean NOT NULL DEFAULT false,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  -- Set when its files were deleted before it: the bytes that are still stored.
  kept_bytes integer CHECK (kept_bytes BETWEEN 0 AND size_bytes),
  attachment_count integer NOT NULL CHECK (attachment_count >= 0),
  -- Inbound messages have raw bytes, until their files are deleted. Outbound ones are composed from their fields, to the same bytes each time.
  raw_id text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Words of subject, addresses and the first 60,000 characters of text, and those of sender, recipients and subject by themselves.
  search tsvector NOT NULL,
  -- Results of the sender checks with their evidence, the API's `authentication` object. Null on outbound messages.
  authentication jsonb,
  -- One-time codes and sign-in links, found when the message is filed, a list of {kind, value, purpose, near, domain}.
  codes jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(codes) = 'array'),
  -- {decision, rule_id, basis, reason}, the decision of the mail rules.
  guardrail jsonb,
  -- [{type, reason, evidence}], indicators of deception in inbound messages.
  flags jsonb NOT NULL DEFAULT '[]',
  released_at timestamptz,
  -- The time when it was moved to the trash. It is purged 30 days later.
  trashed_at timestamptz CHECK (trashed_at IS NULL OR status <> 'quarantined'),
  is_quarantined boolean NOT NULL GENERATED ALWAYS AS (status = 'quarantined') STORED,
  -- Quarantined or trashed: not in lists, searches and counts.
  is_hidden boolean NOT NULL GENERATED ALWAYS AS (status = 'quarantined' OR trashed_at IS NOT NULL) STORED,
  extracted_characters integer CHECK (extracted_characters >= 0),
  -- Null for none, because most messages have none.
  tags text[] CONSTRAINT messages_tags CHECK (is_tags(tags)),
  metadata jsonb CONSTRAINT messages_metadata CHECK (is_metadata(metadata)),
  UNIQUE (organization_id, id),
  CHECK (direction = 'outbound' OR (raw_id IS NOT NULL) = (kept_bytes IS NULL)),
  CHECK (status <> 'quarantined' OR guardrail IS NOT NULL),
  CHECK (released_at IS NULL OR status = 'received'),
  CHECK (num_nulls(extracted_text, extracted_characters) = 1),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, thread_id) REFERENCES threads (organization_id, id),
  FOREIGN KEY (organization_id, raw_id) REFERENCES raw_messages (organization_id, id)
) PARTITION BY RANGE (id);

-- Nineteen indexes with the two keys above, each for a list or a step that needs it.
-- With is_hidden in the key or the predicate, lists do not walk through a flood of hidden messages. The newest message of a mailbox is the last
-- entry of its range, because PostgreSQL splits a full page behind it. Lists read these indexes backwards.
-- GET /mail/messages, and with direction=.
CREATE INDEX messages_newest_organization ON messages (organization_id, id) WHERE NOT is_hidden;
CREATE INDEX messages_direction_organization ON messages (organization_id, direction, id) WHERE NOT is_hidden;
-- GET /mailboxes/{email_address}/messages, and GET /mail/messages of some agents.
CREATE INDEX messages_newest ON messages (mailbox_id, is_hidden, id);
-- GET /threads/{thread_id}, and lists with thread_id=.
CREATE INDEX messages_thread ON messages (thread_id, is_hidden, id DESC);
-- Lists with status=quarantined, and the trash of a mailbox and of an organization.
CREATE INDEX messages_quarantined ON messages (mailbox_id, id DESC) WHERE is_quarantined;
CREATE INDEX messages_trash ON messages (mailbox_id, id DESC) WHERE trashed_at IS NOT NULL;
CREATE INDEX messages_trash_organization ON messages (organization_id, id DESC) WHERE trashed_at IS NOT NULL;
-- Purging the trash, and deleting raw messages that no message names any more.
CREATE INDEX messages_trashed_at ON messages (trashed_at) WHERE trashed_at IS NOT NULL;
CREATE INDEX messages_raw ON messages (raw_id) WHERE raw_id IS NOT NULL;
-- Automatic replies (RFC 3834) leave with the null return path. One per addressee is the limit, checked before each is sent.
CREATE INDEX messages_automatic_answers ON messages (mailbox_id, id) WHERE direction = 'outbound' AND envelope_from = '';

-- Lists of a mailbox with filters whose matches may be rare: is_read=false, is_starred=true, direction=outbound and folder=sent, and flag=.
CREATE INDEX messages_unread ON messages (mailbox_id, id) WHERE NOT is_read AND NOT is_hidden;
CREATE INDEX messages_starred ON messages (mailbox_id, id DESC) WHERE is_starred AND NOT is_hidden;
CREATE INDEX messages_outbound ON messages (mailbox_id, id) WHERE direction = 'outbound';
CREATE INDEX messages_flagged ON messages (mailbox_id, id DESC) WHERE flags <> '[]';

-- The inverted indexes are keyed by mailbox and time partition, which is the first 18 bits of the time in an id, 12 days. A search asks
-- for the newest partitions first, and the cost to separate the mailbox's hits from the others' does not grow with the mailbox. The key is an
-- array, so that one scan of the index asks for several partitions. It has a prefix of its own in each index, so that the planner never takes
-- the index of another column. New entries wait in a list that every scan reads whole. It is kept below PostgreSQL's 4 MB: a shorter list makes
-- searches faster and arrival slower.
-- GET …/search, threads with q=, and lists with from=, to= or subject=.
CREATE INDEX messages_search ON messages USING gin ((ARRAY['s' || mailbox_id || substr(id, 5, 4)]), search) WITH (gin_pending_list_limit = 1024);

-- Lists with label=, tag= or metadata=: one index, because every new message pays for each index of its table.
CREATE INDEX messages_marks ON messages USING gin ((ARRAY['m' || mailbox_id || substr(id, 5, 4)]), labels, tags, metadata jsonb_path_ops)
  WITH (gin_pending_list_limit = 256) WHERE labels <> '{}' OR tags IS NOT NULL OR metadata IS NOT NULL;

-- The same for tags and metadata across an organization. Few messages have them.
CREATE INDEX messages_marks_organization ON messages USING gin ((ARRAY['o' || organization_id || substr(id, 5, 4)]), tags, metadata jsonb_path_ops)
  WITH (gin_pending_list_limit = 256) WHERE tags IS NOT NULL OR metadata IS NOT NULL;

-- Compressing a text of more than 2 KB took a third to a half of the cost of filing it, and saved a fifth of its size. Search vectors did
-- not shrink at all. HTML shrinks to a third and stays compressed.
ALTER TABLE messages ALTER COLUMN text SET STORAGE EXTERNAL, ALTER COLUMN search SET STORAGE EXTERNAL;

-- Ids of deleted messages. Deleting again answers 200, and an id that never existed answers 404.
CREATE TABLE deleted_messages (
  mailbox_id text NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  message_id text NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (mailbox_id, message_id)
);

-- Ids of threads that were deleted permanently.
CREATE TABLE deleted_threads (
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  thread_id text NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (mailbox_id, thread_id),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX deleted_threads_organization ON deleted_threads (organization_id, thread_id);

-- Number of messages that a mailbox lists, and bytes that it stores, in shards. Concurrent arrivals to one mailbox would queue for the lock of
-- a single counter row. The bytes are those of all messages, hidden ones too, and of the attachments of drafts.
CREATE TABLE message_counts (
  mailbox_id text NOT NULL,
  organization_id text NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (mailbox_id, shard),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);
CREATE INDEX message_counts_organization ON message_counts (organization_id);

-- Bytes that all mailboxes of an organization store, in shards. More than those of a mailbox, because more transactions meet here.
CREATE TABLE storage_counts (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  shard smallint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (organization_id, shard)
) WITH (fillfactor = 50);

-- A deleted mailbox takes its counters along, also those that were written during the deletion.
CREATE OR REPLACE FUNCTION release_storage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Without a row when the organization is being deleted, too.
  UPDATE storage_counts SET bytes = bytes - OLD.bytes WHERE organization_id = OLD.organization_id
    AND shard = (SELECT min(shard) FROM storage_counts WHERE organization_id = OLD.organization_id);
  RETURN NULL;
END
$$;
CREATE TRIGGER message_counts_deleted AFTER DELETE ON message_counts FOR EACH ROW WHEN (OLD.bytes <> 0) EXECUTE FUNCTION release_storage();

-- Messages in progress.
CREATE TABLE drafts (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  mailbox_id text NOT NULL,
  thread_id text,
  in_reply_to_message_id text,
  -- The fields of a reply, copied when the draft is made. The draft can be sent after the original message is deleted.
  in_reply_to text,
  reference_ids text[] NOT NULL DEFAULT '{}',
  forward_of_message_id text,
  reply_all boolean NOT NULL,
  forward_attachments boolean NOT NULL,
  -- As the caller gave them, names included.
  to_addresses text[] NOT NULL DEFAULT '{}',
  cc_addresses text[] NOT NULL DEFAULT '{}',
  bcc_addresses text[] NOT NULL DEFAULT '{}',
  reply_to text[] NOT NULL DEFAULT '{}',
  subject text,
  snippet text,
  text text,
  html text,
  headers jsonb NOT NULL DEFAULT '{}',
  -- The author as the caller gave it. Null for the primary address, or in an answer the address that its message came to.
  from_entry text,
  version integer NOT NULL CHECK (version >= 1),
  attachment_count integer NOT NULL CHECK (attachment_count >= 0),
  -- A scheduled draft has one valid job. Older jobs of the same draft do nothing.
  send_at timestamptz,
  job_id text,
  send_error text,
  -- The key of the latest change of a scheduled draft, in whose name it is sent. Null for a member of the organization.
  scheduled_by_key_id text,
  -- Mail that needs approval when it is due leaves only if the caller that scheduled it could have approved it.
  is_scheduled_by_approver boolean NOT NULL DEFAULT false,
  -- True when a person approved exactly this version by scheduling it.
  is_approved boolean NOT NULL DEFAULT false,
  -- True when the agent itself wrote the latest version. Under draft approval, its schedule does not send that version.
  is_written_by_agent boolean NOT NULL,
  -- New with every change. It is unique and sorts by time.
  change_id text NOT NULL,
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  is_automatic boolean NOT NULL DEFAULT false,
  -- The labels that its message gets.
  labels text[] NOT NULL DEFAULT '{}',
  tags text[] CHECK (is_tags(tags)),
  metadata jsonb CONSTRAINT drafts_metadata CHECK (is_metadata(metadata)),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  -- The request for approval. Its id sorts by time and orders the queue. The link is valid for this version only.
  approval_id text,
  approval_status text CHECK (approval_status IN ('requested', 'expired')),
  approval_reasons text[] NOT NULL DEFAULT '{}',
  approval_requested_at timestamptz,
  approval_expires_at timestamptz,
  approval_job_id text,
  approval_link_id text,
  CHECK ((approval_status IS NULL) = (approval_id IS NULL)),
  CHECK ((approval_status IS NULL) = (approval_requested_at IS NULL)),
  CHECK ((approval_status IS NULL) = (approval_expires_at IS NULL)),
  CHECK (approval_link_id IS NULL OR approval_status = 'requested'),
  CHECK ((send_at IS NULL) = (job_id IS NULL)),
  CHECK (in_reply_to_message_id IS NULL OR forward_of_message_id IS NULL),
  FOREIGN KEY (organization_id, mailbox_id) REFERENCES mailboxes (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX drafts_latest ON drafts (mailbox_id, change_id DESC);
CREATE INDEX drafts_newest ON drafts (mailbox_id, id DESC);
CREATE UNIQUE INDEX drafts_client_id ON drafts (organization_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX drafts_waiting ON drafts (organization_id, approval_id) WHERE approval_status = 'requested';
CREATE INDEX drafts_waiting_of_mailbox ON drafts (mailbox_id, approval_id) WHERE approval_status = 'requested';
CREATE UNIQUE INDEX drafts_approval_link ON drafts (approval_link_id) WHERE approval_link_id IS NOT NULL;
CREATE INDEX drafts_thread ON drafts (thread_id) WHERE thread_id IS NOT NULL;
-- The threads with a scheduled draft, newest thread first.
CREATE INDEX drafts_scheduled ON drafts (mailbox_id, thread_id DESC) WHERE send_at IS NOT NULL AND thread_id IS NOT NULL;
CREATE INDEX drafts_scheduled_organization ON drafts (organization_id, thread_id DESC) WHERE send_at IS NOT NULL AND thread_id IS NOT NULL;

-- Earlier versions of drafts, for reviewers, with every field that their recipients would get. The latest is in drafts.
CREATE TABLE draft_versions (
  organization_id text NOT NULL,
  draft_id text NOT NULL,
  version integer NOT NULL,
  to_addresses text[] NOT NULL,
  cc_addresses text[] NOT NULL,
  bcc_addresses text[] NOT NULL,
  subject text,
  text text,
  html text,
  from_entry text,
  reply_to text[] NOT NULL DEFAULT '{}',
  headers jsonb NOT NULL DEFAULT '{}',
  is_automatic boolean NOT NULL DEFAULT false,
  -- Names, types and sizes of the files.
  files jsonb NOT NULL DEFAULT '[]',
  is_written_by_agent boolean NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (draft_id, version),
  FOREIGN KEY (organization_id, draft_id) REFERENCES drafts (organization_id, id) ON DELETE CASCADE
);

-- Ids of sent drafts and their messages. Sending again answers 409, and an id that never existed answers 404.
CREATE TABLE sent_drafts (
  mailbox_id text NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  draft_id text NOT NULL,
  message_id text NOT NULL,
  client_id text,
  sent_at timestamptz NOT NULL,
  PRIMARY KEY (mailbox_id, draft_id)
);
CREATE UNIQUE INDEX sent_drafts_client_id ON sent_drafts (mailbox_id, client_id) WHERE client_id IS NOT NULL;

-- Attachments of messages and drafts. A forwarded attachment shares the bytes of the original, in the same blob or the same range of the
-- raw message.
CREATE TABLE attachments (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  message_id text,
  position integer NOT NULL,
  filename text NOT NULL,
  content_type text NOT NULL,
  content_id text,
  is_inline boolean NOT NULL DEFAULT false,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  -- The bytes are a range of the raw message with its transfer encoding, a blob, or, for small ones, this row.
  raw_start integer,
  raw_end integer,
  encoding text CHECK (encoding IN ('base64', 'quoted-printable', 'identity')),
  blob_key text,
  bytes bytea,
  created_at timestamptz NOT NULL,
  draft_id text,
  -- The raw message of the range, if it is not that of the attachment's own message.
  raw_id text,
  -- Its bytes were deleted before the message.
  deleted_at timestamptz,
  CHECK (num_nonnulls(raw_start, blob_key, bytes, deleted_at) = 1),
  CHECK ((raw_start IS NULL) = (raw_end IS NULL) AND (raw_start IS NULL) = (encoding IS NULL)),
  CHECK (num_nonnulls(message_id, draft_id) = 1),
  CHECK (draft_id IS NULL OR raw_start IS NULL),
  CHECK (raw_id IS NULL OR raw_start IS NOT NULL),
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, draft_id) REFERENCES drafts (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, raw_id) REFERENCES raw_messages (organization_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX attachments_message ON attachments (message_id, position);
CREATE INDEX attachments_draft ON attachments (draft_id, position) WHERE draft_id IS NOT NULL;
CREATE INDEX attachments_raw ON attachments (raw_id) WHERE raw_id IS NOT NULL;
CREATE INDEX attachments_blob ON attachments (blob_key) WHERE blob_key IS NOT NULL;
ALTER TABLE attachments ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Delivery status per recipient of an outbound message.
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
  -- The last 50 attempts, oldest first, as {at, result, host, tls, answer, enhanced_status}. Written and read with the status.
  log jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(log) = 'array'),
  PRIMARY KEY (message_id, position),
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE
) PARTITION BY RANGE (message_id);

-- The first partition of each table has every id from before the beginning of the month after next. The server makes the following ones ahead, like
-- the last one. An update of a message or a recipient finds room in its page (fillfactor), and then touches none of the indexes.
DO $$
DECLARE
  base32 text := '0123456789abcdefghjkmnpqrstvwxyz';
  at bigint := extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months') * 1000;
  digits text := '';
  one record;
BEGIN
  -- The time of an id is its first ten digits in base32.
  FOR place IN REVERSE 9..0 LOOP
    digits := digits || substr(base32, (at >> (5 * place))::bit(5)::integer + 1, 1);
  END LOOP;
  FOR one IN SELECT * FROM (VALUES ('raw_messages', 'raw', ''), ('messages', 'msg', 'WITH (fillfactor = 80)'), ('attachments', 'att', ''),
    ('message_recipients', 'msg', 'WITH (fillfactor = 80)')) AS tables (name, prefix, options) LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (MINVALUE) TO (%L) %s',
      one.name || '_first', one.name, one.prefix || '_' || digits || repeat('0', 16), one.options);
  END LOOP;
END
$$;

-- MTA-STS policies (RFC 8461). A policy belongs to its domain and applies to all organizations.
CREATE TABLE mta_sts_policies (
  domain text PRIMARY KEY,
  policy_id text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('enforce', 'testing', 'none')),
  mx text[] NOT NULL,
  fetched_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mta_sts_policies_expiry ON mta_sts_policies (expires_at);

-- Messages answered with 451 because the DMARC record of their author could not be looked up, and the time of the first answer. After an
-- hour they are quarantined.
CREATE TABLE deferred_mail (
  key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
  first_at timestamptz NOT NULL
);
CREATE INDEX deferred_mail_first_at ON deferred_mail (first_at);

CREATE TABLE mail_rules (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Null for a rule of every agent of the organization.
  identity_id text,
  owner_id text NOT NULL GENERATED ALWAYS AS (coalesce(identity_id, organization_id)) STORED,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound', 'both')),
  action text NOT NULL CHECK (action IN ('allow', 'block')),
  -- An address, of up to 255 octets before the @, or a domain, folded by packages/mail/src/mail-address.ts.
  entry text NOT NULL CHECK (entry !~ '[A-Z]' AND char_length(entry) BETWEEN 1 AND 511),
  reason text,
  status text NOT NULL CHECK (status IN ('active', 'paused')),
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The row stays, so that deleting again is not an error.
  deleted_at timestamptz,
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
-- One rule per entry and direction. Two contradicting rules cannot be stored.
CREATE UNIQUE INDEX mail_rules_inbound ON mail_rules (owner_id, entry) WHERE direction <> 'outbound' AND deleted_at IS NULL;
CREATE UNIQUE INDEX mail_rules_outbound ON mail_rules (owner_id, entry) WHERE direction <> 'inbound' AND deleted_at IS NULL;
CREATE UNIQUE INDEX mail_rules_client_id ON mail_rules (organization_id, client_id) WHERE client_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX mail_rules_newest ON mail_rules (owner_id, id DESC);

-- Addresses excluded from an organization's mail after hard bounces or complaints, or by hand.
CREATE TABLE suppressions (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Folded by packages/mail/src/mail-address.ts, so that equal addresses are equal text.
  email_address text NOT NULL CHECK (email_address !~ '[A-Z]' AND char_length(email_address) <= 511),
  source text NOT NULL CHECK (source IN ('manual', 'bounce', 'complaint')),
  reason text,
  -- The message that bounced. It may be deleted while the address stays suppressed.
  message_id text,
  created_at timestamptz NOT NULL,
  -- Time of removal from the list. The row stays, so that removing the address again is not an error.
  removed_at timestamptz,
  CHECK (message_id IS NULL OR source <> 'manual'),
  UNIQUE (organization_id, email_address)
);
CREATE INDEX suppressions_newest ON suppressions (organization_id, id DESC) WHERE removed_at IS NULL;
CREATE INDEX suppressions_of_source ON suppressions (organization_id, source, id DESC) WHERE removed_at IS NULL;

-- Templates of messages.
CREATE TABLE templates (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) <= 200),
  alias text CHECK (char_length(alias) BETWEEN 1 AND 100 AND alias !~ '^tpl_'),
  -- Subject, bodies, addresses and variables as they were last changed, and as they were last published.
  content jsonb NOT NULL,
  published jsonb,
  published_at timestamptz,
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((published IS NULL) = (published_at IS NULL))
);
CREATE UNIQUE INDEX templates_alias ON templates (organization_id, alias) WHERE alias IS NOT NULL;
CREATE INDEX templates_newest ON templates (organization_id, id DESC);
CREATE UNIQUE INDEX templates_client_id ON templates (organization_id, client_id) WHERE client_id IS NOT NULL;

-- Counts of sent mail for the limits of identities, keys and organizations. Only subjects with a limit have rows. One row per subject, limit and slice of time. Its messages count until ends_at.
CREATE TABLE send_counts (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subject text NOT NULL,
  name text NOT NULL,
  ends_at timestamptz NOT NULL,
  count integer NOT NULL CHECK (count >= 0),
  PRIMARY KEY (subject, name, ends_at)
) WITH (fillfactor = 50);
CREATE INDEX send_counts_end ON send_counts (ends_at);

-- Addresses that a subject with a limit of new recipients has written to.
CREATE TABLE known_recipients (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subject text NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (subject, address)
);

-- Senders whose messages are being counted for the wake guard, and the messages that wait for the event at the end of the window.
CREATE TABLE wake_windows (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL,
  sender text NOT NULL,
  started_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  messages integer NOT NULL CHECK (messages > 0),
  held integer NOT NULL DEFAULT 0 CHECK (held >= 0),
  -- The first 1,000 held messages and the last one.
  held_ids text[] NOT NULL DEFAULT '{}',
  UNIQUE (identity_id, sender),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX wake_windows_end ON wake_windows (ends_at);

-- Counts of mail per day. Written with the messages that they count. Rows are only added, so that concurrent transactions do not wait for each other. They are moved
-- into usage_counts every few seconds, and before each list.
CREATE TABLE usage_changes (
  organization_id text NOT NULL,
  agent_handle text NOT NULL,
  domain text NOT NULL,
  day date NOT NULL,
  name text NOT NULL,
  count integer NOT NULL
);

-- Three rows count one message: its organization, its agent and the domain of its address. The handle of a deleted agent keeps its counts.
CREATE TABLE usage_counts (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('organization', 'agent', 'domain')),
  -- A handle or a domain. Empty for the organization.
  subject text NOT NULL CHECK ((kind = 'organization') = (subject = '')),
  -- In UTC.
  day date NOT NULL,
  name text NOT NULL CHECK (name IN ('received', 'quarantined', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'complained')),
  count bigint NOT NULL CHECK (count > 0),
  agent_handle text GENERATED ALWAYS AS (CASE WHEN kind = 'agent' THEN subject END) STORED,
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX usage_counts_newest ON usage_counts (organization_id, kind, day DESC, subject, name);
CREATE INDEX usage_counts_of_subject ON usage_counts (organization_id, kind, subject, day DESC) WHERE kind <> 'organization';
CREATE INDEX usage_counts_oldest ON usage_counts (day);

-- Aggregate reports of other mail servers about a domain: DMARC (RFC 7489) and TLS (RFC 8460).
CREATE TABLE domain_reports (
  id text PRIMARY KEY,
  -- Null for the mail domain, whose reports belong to the operator.
  organization_id text,
  domain_id text,
  kind text NOT NULL CHECK (kind IN ('dmarc', 'tls')),
  -- The authenticated domain in From, and the id that the report has there. A report that is sent again is stored once.
  reporter text NOT NULL CHECK (char_length(reporter) BETWEEN 1 AND 255),
  report_id text NOT NULL CHECK (char_length(report_id) BETWEEN 1 AND 200),
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CHECK (ends_at >= starts_at),
  passed bigint NOT NULL CHECK (passed >= 0),
  failed bigint NOT NULL CHECK (failed >= 0),
  -- The sources with most messages or sessions, a list of {source, count, is_passed, disposition, detail}.
  sources jsonb NOT NULL CHECK (jsonb_typeof(sources) = 'array'),
  created_at timestamptz NOT NULL,
  CHECK ((organization_id IS NULL) = (domain_id IS NULL)),
  UNIQUE NULLS NOT DISTINCT (domain_id, kind, reporter, report_id),
  FOREIGN KEY (organization_id, domain_id) REFERENCES domains (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX domain_reports_newest ON domain_reports (domain_id, id DESC);
CREATE INDEX domain_reports_newest_of_kind ON domain_reports (domain_id, kind, id DESC);

-- A link to a page with a message. It opens only while its row exists, is not revoked, and its author has access.
CREATE TABLE message_shares (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  message_id text NOT NULL,
  -- The author is an API key or a member.
  key_id text,
  member_id text,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  CHECK (num_nonnulls(key_id, member_id) = 1),
  FOREIGN KEY (organization_id, message_id) REFERENCES messages (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, member_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX message_shares_newest ON message_shares (organization_id, message_id, id DESC);
CREATE INDEX message_shares_key ON message_shares (organization_id, key_id) WHERE key_id IS NOT NULL;
CREATE INDEX message_shares_member ON message_shares (organization_id, member_id) WHERE member_id IS NOT NULL;
CREATE INDEX message_shares_expiry ON message_shares (expires_at);

-- The reason is in 0001-account.sql. ANALYZE also collects statistics on the expressions of the inverted indexes.
ALTER TABLE addresses ALTER COLUMN identity_id SET (n_distinct = -0.01);
ALTER TABLE domains ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE drafts ALTER COLUMN mailbox_id SET (n_distinct = -0.01);
ALTER TABLE labels ALTER COLUMN mailbox_id SET (n_distinct = -0.01);
ALTER TABLE mail_rules ALTER COLUMN owner_id SET (n_distinct = -0.01);
ALTER TABLE mailboxes ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE templates ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE usage_counts ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE domain_reports ALTER COLUMN domain_id SET (n_distinct = -0.01);
-- Of all partitions together, and of the first one, like which the others are made.
ALTER TABLE messages ALTER COLUMN mailbox_id SET (n_distinct = -0.01, n_distinct_inherited = -0.01), ALTER COLUMN organization_id SET (n_distinct = -0.01, n_distinct_inherited = -0.01);
ALTER TABLE messages_first ALTER COLUMN mailbox_id SET (n_distinct = -0.01), ALTER COLUMN organization_id SET (n_distinct = -0.01);
-- A sample of a large table has few threads, because the messages of a thread are neighbours. By that estimate a thread had more messages than an
-- organization, and the messages of a thread were searched for among those of the organization.
ALTER TABLE messages ALTER COLUMN thread_id SET (n_distinct_inherited = -0.1), ALTER COLUMN raw_id SET (n_distinct_inherited = -0.1);
ALTER TABLE messages_first ALTER COLUMN thread_id SET (n_distinct = -0.1), ALTER COLUMN raw_id SET (n_distinct = -0.1);
ALTER TABLE suppressions ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE addresses, attachments, domain_reports, domains, mail_rules, mailboxes, message_recipients, messages, raw_messages, suppressions, templates, usage_counts;
