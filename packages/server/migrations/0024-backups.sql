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
