-- A link to a page with a message. It opens only while its row exists, is not revoked, and its author has access.
-- The reference locks the table of messages for a moment, so the step gives up before others queue behind it, and is tried again.
SET LOCAL lock_timeout = '500ms';
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
