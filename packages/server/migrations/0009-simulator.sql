-- State of the simulator, which replaces the phone and iMessage providers.

-- Simulated numbers with their buyer and the order key of the purchase.
CREATE TABLE simulated_numbers (
  phone_number text PRIMARY KEY,
  order_key text NOT NULL UNIQUE,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  ready_at timestamptz NOT NULL,
  is_rejected boolean NOT NULL DEFAULT false,
  released_at timestamptz
);

-- Texts whose callback a fault suppressed. The simulated provider returns them in its list.
CREATE TABLE simulated_texts (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  body jsonb NOT NULL,
  -- True when the next text is delivered first and this one follows it.
  is_held boolean NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE simulated_faults (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  channel text NOT NULL,
  op text NOT NULL,
  fail text NOT NULL,
  times integer NOT NULL CHECK (times > 0),
  PRIMARY KEY (organization_id, channel, op, fail)
);

-- Messages that phones outside would have received.
CREATE TABLE simulated_outbox (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  channel text NOT NULL CHECK (channel IN ('imessage', 'sms')),
  from_number text NOT NULL,
  to_number text NOT NULL,
  text text NOT NULL,
  media_url text,
  created_at timestamptz NOT NULL
);
CREATE INDEX simulated_outbox_newest ON simulated_outbox (organization_id, id DESC);

-- iMessage pieces that the simulator took, one row per send. Two rows with one key mean that a piece was sent twice.
CREATE TABLE imessage_simulated (
  id text PRIMARY KEY,
  send_key text NOT NULL,
  recipient text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX imessage_simulated_key ON imessage_simulated (send_key);

-- The reason is in 0001-account.sql.
ALTER TABLE simulated_outbox ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE simulated_outbox;
