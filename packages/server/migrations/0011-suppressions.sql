-- Addresses that an organization's mail does not go to any more: hard bounces, complaints, and what people put here.

CREATE TABLE suppressions (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- As core/mail-address.ts folds it: what is compared is equal text.
  email_address text NOT NULL CHECK (email_address !~ '[A-Z]' AND char_length(email_address) <= 320),
  source text NOT NULL CHECK (source IN ('manual', 'bounce', 'complaint')),
  reason text,
  -- The message that bounced. It may be deleted; the address stays suppressed.
  message_id text,
  created_at timestamptz NOT NULL,
  -- Taken off the list; the row stays, so that taking it off again is no error.
  removed_at timestamptz,
  CHECK (message_id IS NULL OR source <> 'manual'),
  UNIQUE (organization_id, email_address)
);
CREATE INDEX suppressions_newest ON suppressions (organization_id, id DESC) WHERE removed_at IS NULL;
