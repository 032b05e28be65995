-- Messages that were answered 451 because the DMARC record of their author could not be looked up, and when first: after an hour they are quarantined.
CREATE TABLE deferred_mail (
  key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
  first_at timestamptz NOT NULL
);
CREATE INDEX deferred_mail_first_at ON deferred_mail (first_at);
