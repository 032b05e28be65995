-- Jobs with leases, the stored responses of idempotency keys, certificates, and the state of backups.

-- A claim sets the lease token and moves run_at to the end of the lease. One index therefore finds due jobs and abandoned ones.
CREATE TABLE jobs (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind text NOT NULL,
  subject text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  run_at timestamptz NOT NULL,
  lease_token text,
  created_at timestamptz NOT NULL
);
CREATE INDEX jobs_due ON jobs (kind, run_at);

CREATE TABLE idempotency_keys (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  status integer,
  body text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, method, path, key)
);
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (created_at);

-- Certificates that an authority issues over ACME. Private keys are encrypted with the keyring. One row per directory. Its lease admits one process at a time to the authority.
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

-- The latest backup of the installation, at most one row. A worker takes the lease and makes the next one.
CREATE TABLE backup_state (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  leased_until timestamptz,
  started_at timestamptz,
  -- The end of the latest complete one.
  succeeded_at timestamptz,
  name text,
  size_bytes bigint,
  -- The reason why the latest one failed. Null when it succeeded.
  failure text
);
