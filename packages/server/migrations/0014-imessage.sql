-- iMessage: chats with people on a provider's lines, the conversations that bind them to agents, and what is sent and received in them.

-- One person on one line, whoever they talk to. The row is the lock under which anything about the two changes.
CREATE TABLE imessage_chats (
  id text PRIMARY KEY,
  provider text NOT NULL,
  -- The router's number, E.164.
  line text NOT NULL CHECK (line ~ '^\+[1-9][0-9]{6,14}$'),
  -- A number in E.164, or an address: Apple knows people by either.
  participant text NOT NULL CHECK (char_length(participant) BETWEEN 3 AND 320),
  -- What the provider calls the chat, once it is known.
  chat_ref text,
  -- There is a job for this chat: true as long as it has unsettled sends.
  is_sending boolean NOT NULL DEFAULT false,
  -- When somebody who is connected to no agent was last told how that is done.
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
-- A person talks to one agent at a time on one line.
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
  -- Inbound: the provider's own time, within the conversation's. It orders the history, whatever order the callbacks came in.
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CHECK (status <> 'sent' OR sent_at IS NOT NULL),
  FOREIGN KEY (organization_id, conversation_id) REFERENCES imessage_conversations (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX imessage_messages_history ON imessage_messages (conversation_id, created_at, id);
CREATE INDEX imessage_messages_organization ON imessage_messages (organization_id, created_at, id);

-- The files of a message. Inbound ones are fetched from the provider after the message is filed: until then, and for good when they cannot be
-- had, there are no bytes.
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

-- What is to be handed to the provider, one row a provider's message, oldest first within a chat. `sending` is written before the provider is
-- called, so whoever finds it there has to find out what became of the call before anything is sent again.
CREATE TABLE imessage_sends (
  id text PRIMARY KEY,
  chat_id text NOT NULL REFERENCES imessage_chats (id),
  -- Whose agent speaks, or is spoken of in a confirmation; null for the router's help.
  organization_id text REFERENCES organizations (id) ON DELETE CASCADE,
  -- Null for what the router itself says.
  message_id text,
  -- The part of the message: 0 the text (with the file, where the provider takes both at once), 1 the file.
  part smallint NOT NULL,
  text text,
  media_id text REFERENCES imessage_media (id) ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- When it was first and last handed over, by this installation's clock.
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

-- Everything that ever came in, so that a callback that comes again, or a message that is also found by asking, is filed once.
CREATE TABLE imessage_received (
  provider text NOT NULL,
  provider_message_id text NOT NULL,
  sent_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (provider, provider_message_id)
);
CREATE INDEX imessage_received_oldest ON imessage_received (received_at);

-- How far a provider has been read: everything it had until `position` is filed. One node at a time reads, when it is due.
CREATE TABLE imessage_positions (
  provider text PRIMARY KEY,
  started_at timestamptz NOT NULL,
  position timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  -- A hint came while somebody was reading: there is one more reading to do.
  hints bigint NOT NULL DEFAULT 0
);

-- What the simulator took in place of a phone, one row each time: a piece that it has twice was sent twice.
CREATE TABLE imessage_simulated (
  id text PRIMARY KEY,
  send_key text NOT NULL,
  recipient text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX imessage_simulated_key ON imessage_simulated (send_key);
