-- Counts of sent mail for the limits of identities, keys and organizations. Only subjects with a limit have rows.

-- One row per subject, limit and window of the clock.
CREATE TABLE send_counts (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subject text NOT NULL,
  name text NOT NULL,
  window_start timestamptz NOT NULL,
  count integer NOT NULL CHECK (count >= 0),
  PRIMARY KEY (subject, name, window_start)
) WITH (fillfactor = 50);
CREATE INDEX send_counts_oldest ON send_counts (window_start);

-- Addresses that a subject with a limit of new recipients has written to.
CREATE TABLE known_recipients (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subject text NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (subject, address)
);
