-- The event log, and webhooks with one delivery per matching event.

-- Every change that is announced to clients and webhooks, written in the transaction of the change. `subject_id` is the id of the
-- changed row, from which bodies are read.
CREATE TABLE events (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  identity_id text,
  type text NOT NULL,
  subject_id text NOT NULL,
  data jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  -- Ids are made before the commit and may become visible out of order, so that a reader of ids could miss a late one. An event gets its
  -- position after its commit, under one lock. A reader of positions misses none.
  position bigint
);
CREATE INDEX events_oldest ON events (organization_id, id);
CREATE INDEX events_unplaced ON events (id) WHERE position IS NULL;
CREATE INDEX events_placed ON events (organization_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_placed_identity ON events (identity_id, position) WHERE position IS NOT NULL AND identity_id IS NOT NULL;
-- An event of a type that an organization or an agent never had is found without a walk through its log. The predicate leaves the work to the
-- assignment of positions: a transaction that makes an event adds nothing here.
CREATE INDEX events_placed_type ON events (organization_id, type, position) WHERE position IS NOT NULL;
CREATE INDEX events_placed_identity_type ON events (identity_id, type, position) WHERE position IS NOT NULL AND identity_id IS NOT NULL;

-- One row with the last position given. The holder of its row lock gives the next ones. `event_id` is the event that got it. After a failover
-- or a restore that lost events, positions are given again, to other events.
CREATE TABLE event_head (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  position bigint NOT NULL,
  event_id text
);
INSERT INTO event_head (position) VALUES (0);

CREATE TABLE webhooks (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  url text NOT NULL CHECK (char_length(url) <= 2048),
  -- True when the URL was set with the right to approve drafts. Links that approve go only there.
  is_url_of_approver boolean NOT NULL DEFAULT false,
  event_types text[] NOT NULL CHECK (cardinality(event_types) > 0),
  -- The agents whose events it receives, as in webhook_agents. Empty for the events of the whole organization.
  identity_ids text[] NOT NULL DEFAULT '{}',
  description text,
  status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  disabled_reason text,
  -- Sealed with a key from the keyring. Old secrets sign too until they expire.
  secret bytea NOT NULL,
  old_secrets bytea[] NOT NULL DEFAULT '{}',
  old_secrets_until timestamptz[] NOT NULL DEFAULT '{}',
  -- Names of the custom headers, and their JSON, sealed like the secret. The values are never shown.
  header_names text[] NOT NULL DEFAULT '{}',
  headers bytea,
  -- The shape of the bodies.
  format text NOT NULL CHECK (format IN ('callsign', 'resend', 'agentmail')),
  -- Time of the first failure since the last success. Null after a success.
  failing_since timestamptz,
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  -- A deleted webhook keeps its row, so that deleting again answers 200. Its deliveries are swept.
  deleted_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CONSTRAINT webhooks_approval_links CHECK (is_url_of_approver OR NOT event_types && ARRAY['*', 'draft.approval_requested']),
  CHECK ((headers IS NULL) = (cardinality(header_names) = 0)),
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL)),
  CHECK (cardinality(old_secrets) = cardinality(old_secrets_until))
);
CREATE UNIQUE INDEX webhooks_client_id ON webhooks (organization_id, client_id) WHERE client_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX webhooks_newest ON webhooks (organization_id, id DESC) WHERE deleted_at IS NULL;

-- The agents whose events a webhook receives. Handles are permanent and identities are not. After an agent is deleted, its row stays and
-- matches nothing.
CREATE TABLE webhook_agents (
  organization_id text NOT NULL,
  webhook_id text NOT NULL,
  agent_handle text NOT NULL,
  identity_id text NOT NULL,
  PRIMARY KEY (webhook_id, identity_id),
  FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
);

-- Delivery of one event to one webhook. It is written with the event and leased by a deliverer.
CREATE TABLE webhook_deliveries (
  webhook_id text NOT NULL,
  id text NOT NULL,
  organization_id text NOT NULL,
  event_id text NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  due_at timestamptz,
  -- Separate from due_at and not indexed, so that a claim rewrites the row in its page and touches no index.
  lease_token text,
  leased_until timestamptz,
  -- Attempts since the delivery was made or replayed, its place in the retry schedule.
  tries integer NOT NULL DEFAULT 0,
  attempt_count integer NOT NULL DEFAULT 0,
  -- The latest attempts, oldest first. They are in the row because they are written and read with it.
  attempts jsonb NOT NULL DEFAULT '[]',
  last_status_code integer,
  last_error_code text,
  delivered_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (webhook_id, id),
  CHECK ((status = 'pending') = (due_at IS NOT NULL)),
  CHECK ((lease_token IS NULL) = (leased_until IS NULL)),
  FOREIGN KEY (organization_id, webhook_id) REFERENCES webhooks (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
-- By webhook first, so that a million rows of one webhook do not slow down the others.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, id) WHERE status = 'failed';

-- The reason is in 0001-account.sql.
ALTER TABLE events ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE webhooks ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE events, webhooks;
