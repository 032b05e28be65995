-- Certificates that an authority issues over ACME. Private keys are encrypted with the keyring.

-- One row per directory. Its lease admits one process at a time to the authority.
CREATE TABLE acme_accounts (
  directory_url text PRIMARY KEY,
  sealed_key text NOT NULL,
  account_url text,
  lease_token text,
  lease_until timestamptz,
  created_at timestamptz NOT NULL,
  CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);

-- The names are those of the settings. A row without a chain waits for its first certificate.
CREATE TABLE certificates (
  name text PRIMARY KEY,
  -- The authority that signs the next one.
  directory_url text NOT NULL,
  chain text,
  sealed_key text,
  issued_at timestamptz,
  due_at timestamptz NOT NULL,
  failures integer NOT NULL DEFAULT 0,
  last_error text,
  orders_on date,
  orders integer NOT NULL DEFAULT 0,
  CHECK ((chain IS NULL) = (sealed_key IS NULL) AND (chain IS NULL) = (issued_at IS NULL))
);

-- Answers to HTTP-01, which any process may have to give.
CREATE TABLE acme_challenges (
  token text PRIMARY KEY,
  key_authorization text NOT NULL,
  created_at timestamptz NOT NULL
);
