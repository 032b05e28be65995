-- Counts of mail per day, and the log of API requests.

-- Written with the messages that they count. Rows are only added, so that concurrent transactions do not wait for each other. They are moved
-- into usage_counts every few seconds, and before each list.
CREATE TABLE usage_changes (
  organization_id text NOT NULL,
  agent_handle text NOT NULL,
  domain text NOT NULL,
  day date NOT NULL,
  name text NOT NULL,
  count integer NOT NULL
);

-- Three rows count one message: its organization, its agent and the domain of its address. The handle of a deleted agent keeps its counts.
CREATE TABLE usage_counts (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('organization', 'agent', 'domain')),
  -- A handle or a domain. Empty for the organization.
  subject text NOT NULL CHECK ((kind = 'organization') = (subject = '')),
  -- In UTC.
  day date NOT NULL,
  name text NOT NULL CHECK (name IN ('received', 'quarantined', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'complained')),
  count bigint NOT NULL CHECK (count > 0),
  agent_handle text GENERATED ALWAYS AS (CASE WHEN kind = 'agent' THEN subject END) STORED,
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX usage_counts_newest ON usage_counts (organization_id, kind, day DESC, subject, name);
CREATE INDEX usage_counts_of_subject ON usage_counts (organization_id, kind, subject, day DESC) WHERE kind <> 'organization';
CREATE INDEX usage_counts_oldest ON usage_counts (day);

-- Requests of API keys. Neither bodies nor headers nor the values of parameters are stored.
CREATE TABLE api_requests (
  -- The request id, which sorts by the time of the request.
  id text NOT NULL,
  organization_id text NOT NULL,
  key_id text NOT NULL,
  operation text NOT NULL,
  method text NOT NULL,
  -- The path of the operation, with the parameters that are ids.
  path text NOT NULL,
  status smallint NOT NULL,
  -- The first digit of the status.
  status_class smallint NOT NULL GENERATED ALWAYS AS (status / 100) STORED,
  error_code text,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  -- Names of query parameters and of the fields of the body.
  fields text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE
);
-- A filter merges the newest rows of each operation and status class that match. Every request is written, so there are no more indexes.
CREATE INDEX api_requests_operation ON api_requests (organization_id, operation, status_class, id DESC);
CREATE INDEX api_requests_key ON api_requests (key_id, operation, status_class, id DESC);

-- The reason is in 0001-account.sql.
ALTER TABLE usage_counts ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE api_requests ALTER COLUMN organization_id SET (n_distinct = -0.01), ALTER COLUMN key_id SET (n_distinct = -0.01);
ANALYZE usage_counts, api_requests;
