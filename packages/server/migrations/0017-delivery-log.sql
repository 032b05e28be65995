-- What became of every attempt to deliver, and what domains say about TLS to their mail servers.

-- Oldest first, the last 50: {at, result, host, tls, answer, enhanced_status}. Written with the status that it explains, and read with it.
ALTER TABLE message_recipients ADD COLUMN log jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(log) = 'array');

-- MTA-STS (RFC 8461). Of the domain, not of an organization: it is the same for whoever sends there.
CREATE TABLE mta_sts_policies (
  domain text PRIMARY KEY,
  policy_id text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('enforce', 'testing', 'none')),
  mx text[] NOT NULL,
  fetched_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mta_sts_policies_expiry ON mta_sts_policies (expires_at);
