-- Templates of messages.

CREATE TABLE templates (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) <= 200),
  alias text CHECK (char_length(alias) BETWEEN 1 AND 100 AND alias !~ '^tpl_'),
  -- Subject, bodies, addresses and variables as they were last changed, and as they were last published.
  content jsonb NOT NULL,
  published jsonb,
  published_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((published IS NULL) = (published_at IS NULL))
);
CREATE UNIQUE INDEX templates_alias ON templates (organization_id, alias) WHERE alias IS NOT NULL;
CREATE INDEX templates_newest ON templates (organization_id, id DESC);

-- The reason is in 0001-account.sql.
ALTER TABLE templates ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE templates;
