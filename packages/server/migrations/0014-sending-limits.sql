-- Counts of sent mail for the limits of identities, keys and organizations. Only subjects with a limit have rows.

-- One row per subject, limit and slice of time. Its messages count until ends_at.
CREATE TABLE send_counts (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subject text NOT NULL,
  name text NOT NULL,
  ends_at timestamptz NOT NULL,
  count integer NOT NULL CHECK (count >= 0),
  PRIMARY KEY (subject, name, ends_at)
) WITH (fillfactor = 50);
CREATE INDEX send_counts_end ON send_counts (ends_at);

-- Addresses that a subject with a limit of new recipients has written to.
CREATE TABLE known_recipients (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  subject text NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (subject, address)
);
