-- Agent identities with their mailbox and tunnel, and the keys that may be limited to one of them.

-- Every handle ever taken: a handle stays reserved after its identity is deleted, so that nobody inherits another agent's mail.
CREATE TABLE handles (
  handle text PRIMARY KEY CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, handle)
);

CREATE TABLE identities (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  agent_handle text NOT NULL UNIQUE,
  display_name text NOT NULL DEFAULT '',
  description text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
);
CREATE INDEX identities_newest ON identities (organization_id, id DESC);

CREATE TABLE mailboxes (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL UNIQUE,
  address text NOT NULL UNIQUE CHECK (address = lower(address) AND char_length(address) <= 320),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX mailboxes_newest ON mailboxes (organization_id, id DESC);

CREATE TABLE tunnels (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL UNIQUE,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'disabled')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  user_id text NOT NULL,
  -- The public 16 characters of the key, by which it is looked up.
  lookup_id text NOT NULL UNIQUE CHECK (lookup_id ~ '^[0-9A-Za-z]{16}$'),
  salt bytea NOT NULL CHECK (octet_length(salt) = 16),
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  last4 text NOT NULL CHECK (char_length(last4) = 4),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  type text NOT NULL CHECK (type IN ('organization', 'agent')),
  identity_id text,
  scopes text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  CHECK ((type = 'agent') = (identity_id IS NOT NULL)),
  FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_newest ON api_keys (organization_id, id DESC);
CREATE INDEX api_keys_identity ON api_keys (identity_id) WHERE identity_id IS NOT NULL;
