-- Jobs with leases, and the stored responses of idempotency keys.

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
