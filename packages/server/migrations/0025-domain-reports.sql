-- Aggregate reports of other mail servers about a domain: DMARC (RFC 7489) and TLS (RFC 8460).
CREATE TABLE domain_reports (
  id text PRIMARY KEY,
  -- Null for the mail domain, whose reports belong to the operator.
  organization_id text,
  domain_id text,
  kind text NOT NULL CHECK (kind IN ('dmarc', 'tls')),
  -- The authenticated domain in From, and the id that the report has there. A report that is sent again is stored once.
  reporter text NOT NULL CHECK (char_length(reporter) BETWEEN 1 AND 255),
  report_id text NOT NULL CHECK (char_length(report_id) BETWEEN 1 AND 200),
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CHECK (ends_at >= starts_at),
  passed bigint NOT NULL CHECK (passed >= 0),
  failed bigint NOT NULL CHECK (failed >= 0),
  -- The sources with most messages or sessions, a list of {source, count, is_passed, disposition, detail}.
  sources jsonb NOT NULL CHECK (jsonb_typeof(sources) = 'array'),
  created_at timestamptz NOT NULL,
  CHECK ((organization_id IS NULL) = (domain_id IS NULL)),
  UNIQUE NULLS NOT DISTINCT (domain_id, kind, reporter, report_id),
  FOREIGN KEY (organization_id, domain_id) REFERENCES domains (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX domain_reports_newest ON domain_reports (domain_id, id DESC);
CREATE INDEX domain_reports_newest_of_kind ON domain_reports (domain_id, kind, id DESC);
ALTER TABLE domain_reports ALTER COLUMN domain_id SET (n_distinct = -0.01);
ANALYZE domain_reports;
