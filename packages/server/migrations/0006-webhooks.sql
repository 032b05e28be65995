-- Webhooks: subscriptions, one delivery for each matching event, and the one order in which events are read.

-- Ids are made before the commit, so they may become visible out of order, and a reader that remembers the last id could miss a late one.
-- A position is given to an event after its commit, under one lock: whoever has read up to a position has read everything before it.
ALTER TABLE events ADD COLUMN position bigint;
CREATE INDEX events_unplaced ON events (id) WHERE position IS NULL;
CREATE INDEX events_placed ON events (organization_id, position) WHERE position IS NOT NULL;
CREATE INDEX events_placed_identity ON events (identity_id, position) WHERE position IS NOT NULL AND identity_id IS NOT NULL;

-- One row: the last position given. Whoever holds its lock gives the next ones.
CREATE TABLE event_head (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  position bigint NOT NULL
);
INSERT INTO event_head (position) VALUES (0);

CREATE TABLE webhooks (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  url text NOT NULL CHECK (char_length(url) <= 2048),
  event_types text[] NOT NULL CHECK (cardinality(event_types) > 0),
  -- The agent whose events it gets. The handle is for ever and the identity is not: when the agent goes, the webhook stays and gets nothing.
  agent_handle text,
  identity_id text,
  description text,
  status text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  disabled_reason text,
  -- Sealed with a key from the keyring. The old ones sign along until their time is over.
  secret bytea NOT NULL,
  old_secrets bytea[] NOT NULL DEFAULT '{}',
  old_secrets_until timestamptz[] NOT NULL DEFAULT '{}',
  -- The first of an unbroken row of failures; null after a success.
  failing_since timestamptz,
  -- A deleted webhook is kept by its id, so that deleting again answers 200; its deliveries are swept.
  deleted_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CHECK ((agent_handle IS NULL) = (identity_id IS NULL)),
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL)),
  CHECK (cardinality(old_secrets) = cardinality(old_secrets_until)),
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
);
CREATE INDEX webhooks_newest ON webhooks (organization_id, id DESC) WHERE deleted_at IS NULL;

-- What one event is to one webhook: written with the event, and leased by whoever delivers it.
CREATE TABLE webhook_deliveries (
  webhook_id text NOT NULL,
  id text NOT NULL,
  organization_id text NOT NULL,
  event_id text NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  due_at timestamptz,
  -- Beside due_at and in no index: a claim rewrites the row in its page and touches no index.
  lease_token text,
  leased_until timestamptz,
  -- Attempts since the delivery was made or replayed: the place in the schedule.
  tries integer NOT NULL DEFAULT 0,
  attempt_count integer NOT NULL DEFAULT 0,
  -- The latest attempts, oldest first; in the row because they are written with it and read with it.
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
-- By webhook first: a million rows behind one endpoint are no row nearer to any other.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, id) WHERE status = 'failed';
