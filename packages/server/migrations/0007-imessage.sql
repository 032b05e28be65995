-- iMessage chats on a provider's lines, the conversations that connect them to agents, and the messages sent and received in them.

-- One person on one line. Every change that concerns the two locks this row.
CREATE TABLE imessage_chats (
  id text PRIMARY KEY,
  provider text NOT NULL,
  -- The router's number, E.164.
  line text NOT NULL CHECK (line ~ '^\+[1-9][0-9]{6,14}$'),
  -- A number in E.164 or an email address. Apple identifies people by either.
  participant text NOT NULL CHECK (char_length(participant) BETWEEN 3 AND 320),
  -- The provider's id of the chat, once it is known.
  chat_ref text,
  -- True while the chat has a job, as long as it has unsettled sends.
  is_sending boolean NOT NULL DEFAULT false,
  -- Time of the latest help text to a person who is not connected to an agent.
  helped_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (provider, line, participant)
);

CREATE TABLE imessage_conversations (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL,
  chat_id text NOT NULL REFERENCES imessage_chats (id),
  status text NOT NULL CHECK (status IN ('active', 'archived')),
  archived_at timestamptz,
  archived_reason text CHECK (archived_reason IN ('disconnected_by_user', 'disconnected_by_agent', 'replaced')),
  last_message_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CHECK ((status = 'archived') = (archived_at IS NOT NULL) AND (status = 'archived') = (archived_reason IS NOT NULL)),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
-- One active agent per person and line.
CREATE UNIQUE INDEX imessage_conversations_active ON imessage_conversations (chat_id) WHERE status = 'active';
CREATE INDEX imessage_conversations_newest ON imessage_conversations (organization_id, id DESC);
CREATE INDEX imessage_conversations_identity ON imessage_conversations (identity_id, id DESC);

CREATE TABLE imessage_messages (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  conversation_id text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  status text NOT NULL CHECK (
    (direction = 'inbound' AND status = 'received') OR (direction = 'outbound' AND status IN ('queued', 'sent', 'failed'))
  ),
  sender text NOT NULL,
  text text NOT NULL,
  sent_at timestamptz,
  error_code text,
  error_detail text,
  -- The provider's time for inbound messages, limited to the time of the conversation. It orders the history in any order of callbacks.
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CHECK (status <> 'sent' OR sent_at IS NOT NULL),
  FOREIGN KEY (organization_id, conversation_id) REFERENCES imessage_conversations (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX imessage_messages_history ON imessage_messages (conversation_id, created_at, id);
CREATE INDEX imessage_messages_organization ON imessage_messages (organization_id, created_at, id);

-- The files of a message. Inbound files are fetched from the provider after the message is filed. A file that is not fetched yet, or
-- cannot be fetched, has no bytes.
CREATE TABLE imessage_media (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  message_id text NOT NULL,
  position smallint NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'stored', 'unavailable')),
  filename text NOT NULL,
  content_type text NOT NULL,
  size_bytes integer NOT NULL DEFAULT 0 CHECK (size_bytes >= 0),
  provider_ref text,
  blob_key text,
  bytes bytea,
  UNIQUE (message_id, position),
  CHECK (num_nonnulls(blob_key, bytes) = CASE state WHEN 'stored' THEN 1 ELSE 0 END),
  CHECK (state <> 'pending' OR provider_ref IS NOT NULL),
  FOREIGN KEY (organization_id, message_id) REFERENCES imessage_messages (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX imessage_media_blob ON imessage_media (blob_key) WHERE blob_key IS NOT NULL;
ALTER TABLE imessage_media ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Outbound pieces, one row per message of the provider, oldest first within a chat. `sending` is committed before the provider is called.
-- After a crash, the outcome of that call must be found out before the chat sends again.
CREATE TABLE imessage_sends (
  id text PRIMARY KEY,
  chat_id text NOT NULL REFERENCES imessage_chats (id),
  -- The organization of the agent that writes, or that a confirmation mentions. Null for the router's help text.
  organization_id text REFERENCES organizations (id) ON DELETE CASCADE,
  -- Null for texts of the router itself.
  message_id text,
  -- Part of the message: 0 is the text, with the file if the provider takes both at once. 1 is the file.
  part smallint NOT NULL,
  text text,
  media_id text REFERENCES imessage_media (id) ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- Times of the first and the latest attempt, by this installation's clock.
  first_tried_at timestamptz,
  last_tried_at timestamptz,
  provider_message_id text,
  settled_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (message_id, part),
  CHECK (message_id IS NULL OR organization_id IS NOT NULL),
  CHECK (text IS NOT NULL OR media_id IS NOT NULL),
  CHECK (state <> 'sent' OR provider_message_id IS NOT NULL),
  CHECK ((state IN ('sent', 'failed')) = (settled_at IS NOT NULL)),
  CHECK (state <> 'sending' OR last_tried_at IS NOT NULL),
  FOREIGN KEY (organization_id, message_id) REFERENCES imessage_messages (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX imessage_sends_open ON imessage_sends (chat_id, id) WHERE state IN ('waiting', 'sending');
CREATE UNIQUE INDEX imessage_sends_provider ON imessage_sends (chat_id, provider_message_id) WHERE provider_message_id IS NOT NULL;
CREATE INDEX imessage_sends_provider_message ON imessage_sends (provider_message_id) WHERE provider_message_id IS NOT NULL;
CREATE INDEX imessage_sends_media ON imessage_sends (media_id) WHERE media_id IS NOT NULL;

-- Ids of all received messages. A repeated callback, or a message that polling finds too, is filed once.
CREATE TABLE imessage_received (
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  sent_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (provider, provider_message_id)
);
CREATE INDEX imessage_received_oldest ON imessage_received (received_at);

-- Read position per provider. All messages until `position` are filed. One node at a time reads, at `due_at`.
CREATE TABLE imessage_positions (
  provider text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  position timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  -- Counts hints. One that arrives during a read causes another read.
  hints bigint NOT NULL DEFAULT 0
);

-- The reason is in 0001-account.sql.
ALTER TABLE imessage_conversations ALTER COLUMN organization_id SET (n_distinct = -0.01), ALTER COLUMN identity_id SET (n_distinct = -0.01);
ALTER TABLE imessage_sends ALTER COLUMN chat_id SET (n_distinct = -0.01);
ANALYZE imessage_conversations, imessage_sends;
