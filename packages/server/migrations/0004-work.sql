-- Work that outlives a request: events, jobs with leases, and the first answers to idempotency keys.

-- Every change that concerns the outside, written in the transaction of the change. `subject_id` names what changed; bodies are read from it.
CREATE TABLE events (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  identity_id text,
  type text NOT NULL,
  subject_id text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);
CREATE INDEX events_oldest ON events (organization_id, id);

-- A claimed job has its lease token set and run_at moved to the end of its lease, so one index finds what is due and what was abandoned.
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
