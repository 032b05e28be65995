-- Organizations' own domains, and the mailboxes on them.

CREATE TABLE domains (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  domain text NOT NULL CHECK (domain = lower(domain) AND char_length(domain) BETWEEN 3 AND 200),
  status text NOT NULL CHECK (status IN ('pending', 'verified', 'failed')),
  is_default boolean NOT NULL,
  -- Once verified, mail at the name is this organization's, also while its records are wrong; until another one has verified the name.
  holds_name boolean NOT NULL,
  provider text NOT NULL,
  provider_domain_id text,
  -- As the provider gave them, each with its status.
  dns_records jsonb NOT NULL,
  verified_at timestamptz,
  -- The first of an unbroken row of background checks that found wrong records.
  failing_since timestamptz,
  -- The next background check; only verified domains have any.
  check_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CONSTRAINT domains_once UNIQUE (organization_id, domain),
  CHECK ((status = 'verified') = (verified_at IS NOT NULL)),
  CHECK ((status = 'verified') = (check_at IS NOT NULL)),
  CHECK (status <> 'verified' OR holds_name),
  CHECK (status = 'verified' OR failing_since IS NULL)
);
CREATE INDEX domains_newest ON domains (organization_id, id DESC);
CREATE INDEX domains_check ON domains (check_at) WHERE check_at IS NOT NULL;
-- Never two defaults, whatever happens at the same time.
CREATE UNIQUE INDEX domains_one_default ON domains (organization_id) WHERE is_default;
-- Mail at a name belongs to one organization; so no two have it verified.
CREATE UNIQUE INDEX domains_one_holder ON domains (domain) WHERE holds_name;
-- One registration at a provider is one domain here.
CREATE UNIQUE INDEX domains_one_registration ON domains (provider, provider_domain_id) WHERE provider_domain_id IS NOT NULL;

-- Registrations under way at a provider elsewhere. One whose answer was lost stays, so that trying again finds what the first try made.
CREATE TABLE domain_registrations (
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  provider text NOT NULL,
  domain text NOT NULL,
  started_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, provider, domain)
);

-- Null: the mailbox is on the mail domain. A domain that mailboxes are on cannot go.
ALTER TABLE mailboxes ADD COLUMN domain_id text;
ALTER TABLE mailboxes ADD FOREIGN KEY (organization_id, domain_id) REFERENCES domains (organization_id, id);
CREATE INDEX mailboxes_domain ON mailboxes (domain_id) WHERE domain_id IS NOT NULL;
