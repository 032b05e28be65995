-- Mail rules and modes of identities, and what they decided on messages: quarantined ones count nowhere.

ALTER TABLE identities ADD COLUMN inbound_mode text NOT NULL DEFAULT 'open' CHECK (inbound_mode IN ('open', 'allowlist'));
ALTER TABLE identities ADD COLUMN outbound_mode text NOT NULL DEFAULT 'open' CHECK (outbound_mode IN ('open', 'allowlist'));

CREATE TABLE mail_rules (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound', 'both')),
  action text NOT NULL CHECK (action IN ('allow', 'block')),
  -- As core/mail-address.ts folds it: an address, or a domain.
  entry text NOT NULL CHECK (entry !~ '[A-Z]' AND char_length(entry) BETWEEN 1 AND 320),
  reason text,
  status text NOT NULL CHECK (status IN ('active', 'paused')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The row stays, so that deleting again is no error.
  deleted_at timestamptz,
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
-- One rule an entry and direction: two that contradict each other cannot be stored.
CREATE UNIQUE INDEX mail_rules_inbound ON mail_rules (identity_id, entry) WHERE direction <> 'outbound' AND deleted_at IS NULL;
CREATE UNIQUE INDEX mail_rules_outbound ON mail_rules (identity_id, entry) WHERE direction <> 'inbound' AND deleted_at IS NULL;
CREATE INDEX mail_rules_newest ON mail_rules (identity_id, id DESC);

-- {decision, rule_id, basis, reason}; null on messages from before there were guardrails.
ALTER TABLE messages ADD COLUMN guardrail jsonb;
-- [{type, reason, evidence}]: signs of deception in inbound messages.
ALTER TABLE messages ADD COLUMN flags jsonb NOT NULL DEFAULT '[]';
ALTER TABLE messages ADD COLUMN released_at timestamptz;
ALTER TABLE messages ADD COLUMN is_quarantined boolean NOT NULL GENERATED ALWAYS AS (status = 'quarantined') STORED;
ALTER TABLE messages ADD CHECK (status <> 'quarantined' OR guardrail IS NOT NULL);
ALTER TABLE messages ADD CHECK (released_at IS NULL OR status = 'received');

-- A flood that is quarantined must not stand between a list and what it shows.
DROP INDEX messages_newest_organization;
DROP INDEX messages_newest;
DROP INDEX messages_thread;
CREATE INDEX messages_newest_organization ON messages (organization_id, id DESC) WHERE NOT is_quarantined;
CREATE INDEX messages_newest ON messages (mailbox_id, is_quarantined, id DESC);
CREATE INDEX messages_thread ON messages (thread_id, is_quarantined, id DESC);

-- Whether the agent has written in the thread: what answers it is let in.
ALTER TABLE threads ADD COLUMN has_outbound boolean NOT NULL DEFAULT false;
UPDATE threads t SET has_outbound = true WHERE EXISTS (SELECT 1 FROM messages m WHERE m.thread_id = t.id AND m.direction = 'outbound');
-- message_count counts what lists show; a thread of quarantined messages alone has none and is hidden.
DROP INDEX threads_latest;
CREATE INDEX threads_latest ON threads (mailbox_id, last_message_id DESC) WHERE message_count > 0;
