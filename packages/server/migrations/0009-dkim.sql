-- DKIM signing keys: of the mail domain, which all organizations send from, and of organizations' own domains.

CREATE TABLE dkim_keys (
  id text PRIMARY KEY,
  -- Null for the mail domain. Two organizations may claim one name before either has verified it: each has keys of its own.
  organization_id text REFERENCES organizations (id) ON DELETE CASCADE,
  domain text NOT NULL CHECK (domain = lower(domain) AND char_length(domain) BETWEEN 1 AND 253),
  selector text NOT NULL CHECK (selector ~ '^[a-z0-9]{1,63}$'),
  algorithm text NOT NULL CHECK (algorithm IN ('rsa-sha256', 'ed25519-sha256')),
  -- Base64 of what stands in the p= tag of the record.
  public_key text NOT NULL,
  -- PEM, sealed with a key from the keyring.
  private_key text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (domain, selector)
);
CREATE INDEX dkim_keys_owner ON dkim_keys (organization_id, domain);
-- Nodes that start at once on an empty database agree on one pair.
CREATE UNIQUE INDEX dkim_keys_mail_domain ON dkim_keys (domain, algorithm) WHERE organization_id IS NULL;
