-- Organizations, users, the audit log, agent identities and API keys.

CREATE TABLE organizations (
  id text PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  -- While it is set, messages are accepted and held.
  paused_at timestamptz,
  pause_reason text,
  -- Limits for sending that differ from the settings of the server, of all mail together and of each key.
  sending_limits jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(sending_limits) = 'object'),
  key_sending_limits jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(key_sending_limits) = 'object'),
  -- With `allowlist`, every agent has this mode, whatever its own is.
  inbound_mode text NOT NULL DEFAULT 'open' CHECK (inbound_mode IN ('open', 'allowlist')),
  outbound_mode text NOT NULL DEFAULT 'open' CHECK (outbound_mode IN ('open', 'allowlist')),
  -- Most bytes of stored mail. Null for the limit of the server.
  storage_quota_bytes bigint CHECK (storage_quota_bytes > 0),
  -- The share of the quota, in percent, that the latest event about it announced.
  storage_announced smallint NOT NULL DEFAULT 0 CHECK (storage_announced IN (0, 80, 100)),
  -- Days by kind of data. A missing or null one keeps the data as long as the server does.
  retention jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(retention) = 'object'),
  created_at timestamptz NOT NULL,
  CHECK (paused_at IS NOT NULL OR pause_reason IS NULL)
);

-- One row, written with the first organization. Two nodes that start on an empty database agree through it on the first one.
CREATE TABLE installation (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  organization_id text NOT NULL REFERENCES organizations (id),
  created_at timestamptz NOT NULL
);

CREATE TABLE users (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, id)
);

CREATE TABLE audit_log (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  action text NOT NULL,
  actor_type text NOT NULL CHECK (actor_type IN ('key', 'host')),
  actor_id text,
  target_id text,
  details jsonb NOT NULL DEFAULT '{}',
  request_id text,
  created_at timestamptz NOT NULL
);
CREATE INDEX audit_log_newest ON audit_log (organization_id, id DESC);

-- Every handle ever taken. A handle stays reserved after its identity is deleted, so that another agent cannot inherit its mail.
CREATE TABLE handles (
  handle text PRIMARY KEY CHECK (handle ~ '^[a-z0-9_]{2,32}$'),
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, handle)
);

-- OR REPLACE, because a restore into a database whose tables were dropped finds the function of the earlier schema.
CREATE OR REPLACE FUNCTION is_metadata(metadata jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN jsonb_typeof(metadata) = 'object' AND octet_length(metadata::text) <= 16384
    AND (SELECT count(*) BETWEEN 1 AND 50 AND bool_and(char_length(key) <= 100 AND jsonb_typeof(value) IN ('string', 'number', 'boolean'))
      FROM jsonb_each(CASE WHEN jsonb_typeof(metadata) = 'object' THEN metadata ELSE '{}' END));

CREATE TABLE identities (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  agent_handle text NOT NULL UNIQUE,
  display_name text NOT NULL DEFAULT '',
  description text,
  instructions text CHECK (char_length(instructions) <= 10000),
  sending_limits jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(sending_limits) = 'object'),
  outbound_guard text NOT NULL DEFAULT 'flag' CHECK (outbound_guard IN ('off', 'flag', 'hold')),
  outbound_guard_patterns text[] NOT NULL DEFAULT '{}',
  -- Events about received mail per sender and window. Both are null without a limit.
  wake_events integer CHECK (wake_events > 0),
  wake_window_seconds integer CHECK (wake_window_seconds > 0),
  CHECK ((wake_events IS NULL) = (wake_window_seconds IS NULL)),
  -- As of organizations. A missing day of retention is that of the organization.
  storage_quota_bytes bigint CHECK (storage_quota_bytes > 0),
  storage_announced smallint NOT NULL DEFAULT 0 CHECK (storage_announced IN (0, 80, 100)),
  retention jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(retention) = 'object'),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- With `required`, the agent's own key writes drafts and an organization key sends them.
  draft_approval text NOT NULL DEFAULT 'none' CHECK (draft_approval IN ('none', 'required')),
  inbound_mode text NOT NULL DEFAULT 'open' CHECK (inbound_mode IN ('open', 'allowlist')),
  outbound_mode text NOT NULL DEFAULT 'open' CHECK (outbound_mode IN ('open', 'allowlist')),
  -- The client's own id. A second creation with it returns the same identity. Other tables have this column, too.
  client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255),
  -- Data of the caller, as keys and values. Null for none, here and in other tables.
  metadata jsonb CONSTRAINT identities_metadata CHECK (is_metadata(metadata)),
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
);
CREATE INDEX identities_newest ON identities (organization_id, id DESC);
CREATE UNIQUE INDEX identities_client_id ON identities (organization_id, client_id) WHERE client_id IS NOT NULL;

-- Each key of an identity's metadata with its value, as a hash, so that the identities with one are a keyset list.
CREATE TABLE identity_metadata (
  organization_id text NOT NULL,
  mark text NOT NULL CHECK (char_length(mark) = 43),
  identity_id text NOT NULL,
  PRIMARY KEY (organization_id, mark, identity_id),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_metadata_identity ON identity_metadata (organization_id, identity_id);

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  user_id text NOT NULL,
  -- The public 16 characters of the key, the lookup key of this table.
  lookup_id text NOT NULL UNIQUE CHECK (lookup_id ~ '^[0-9A-Za-z]{16}$'),
  salt bytea NOT NULL CHECK (octet_length(salt) = 16),
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  last4 text NOT NULL CHECK (char_length(last4) = 4),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  type text NOT NULL CHECK (type IN ('organization', 'agent')),
  -- Empty for the default scopes of the type.
  scopes text[] NOT NULL DEFAULT '{}',
  -- Empty for any address.
  allowed_ips cidr[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  last_used_user_agent text,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_newest ON api_keys (organization_id, id DESC);

-- The agents of an agent key. An agent key without a row here is not usable.
CREATE TABLE api_key_agents (
  key_id text NOT NULL,
  organization_id text NOT NULL,
  identity_id text NOT NULL,
  PRIMARY KEY (key_id, identity_id),
  FOREIGN KEY (organization_id, key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX api_key_agents_identity ON api_key_agents (organization_id, identity_id);

-- Statements are planned once for all owners. If one owner has most rows of a table, the planner would walk the table by id to find the
-- newest row of any owner. With the estimate of a hundred rows per owner, it always takes the owner's index. Every area does this.
ALTER TABLE api_keys ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE audit_log ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE identities ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE api_keys, audit_log, identities;
