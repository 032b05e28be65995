-- Organizations, members, the audit log, agent identities, API keys and their requests, the console's sign-in, and connected apps.

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

-- Members.
CREATE TABLE users (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'operator', 'reviewer')),
  name text NOT NULL DEFAULT '' CHECK (char_length(name) <= 100),
  -- Lower case. The owner made with the organization has none until the console sets one. An address and a subject of OpenID Connect name one
  -- member per organization, so that one tenant neither learns nor takes those of another.
  email text CHECK (email = lower(email) AND char_length(email) BETWEEN 3 AND 254),
  -- Argon2id in PHC format.
  password_hash text,
  -- The issuer's subject that this member signed in as first. Another subject with the same address is refused.
  oidc_subject text,
  last_sign_in_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CONSTRAINT users_email_key UNIQUE (organization_id, email),
  CONSTRAINT users_oidc_subject_key UNIQUE (organization_id, oidc_subject)
);
-- A person signs in before the organization is known.
CREATE INDEX users_email ON users (email) WHERE email IS NOT NULL;

CREATE TABLE audit_log (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  action text NOT NULL,
  actor_type text NOT NULL CHECK (actor_type IN ('key', 'host', 'member', 'anonymous', 'link')),
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

-- OR REPLACE, because a restore into a database whose tables were dropped finds the function of the earlier schema. In PL/pgSQL, because
-- PostgreSQL inlines a function in SQL, and for that reads its body in each statement that writes a row.
CREATE OR REPLACE FUNCTION is_metadata(metadata jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN jsonb_typeof(metadata) = 'object' AND octet_length(metadata::text) <= 16384
    AND (SELECT count(*) BETWEEN 1 AND 50 AND bool_and(char_length(key) <= 100 AND jsonb_typeof(value) IN ('string', 'number', 'boolean'))
      FROM jsonb_each(CASE WHEN jsonb_typeof(metadata) = 'object' THEN metadata ELSE '{}' END));
END
$$;

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

-- Requests of API keys. Neither bodies nor headers nor the values of parameters are stored.
CREATE TABLE api_requests (
  -- The request id, which sorts by the time of the request.
  id text NOT NULL,
  organization_id text NOT NULL,
  key_id text NOT NULL,
  operation text NOT NULL,
  method text NOT NULL,
  -- The path of the operation, with the parameters that are ids.
  path text NOT NULL,
  status smallint NOT NULL,
  -- The first digit of the status.
  status_class smallint NOT NULL GENERATED ALWAYS AS (status / 100) STORED,
  error_code text,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  -- Names of query parameters and of the fields of the body.
  fields text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
-- A filter merges the newest rows of each operation and status class that match. Every request is written, so there are no more indexes. New rows
-- have the highest ids. A full page at the right end of an index is split at its end. One at the left end is split in the middle, which takes
-- twice the space. Lists read such indexes backwards.
CREATE INDEX api_requests_operation ON api_requests (organization_id, operation, status_class, id);
CREATE INDEX api_requests_key ON api_requests (key_id, operation, status_class, id);

-- The statement that inserts requests locks their keys, so that none is deleted meanwhile. A foreign key would look up the key of each row
-- again, a third of the insert.
CREATE OR REPLACE FUNCTION delete_requests_of_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM api_requests USING deleted WHERE api_requests.key_id = deleted.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_deleted AFTER DELETE ON api_keys REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION delete_requests_of_keys();

-- Sessions of the console.
CREATE TABLE console_sessions (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  user_id text,
  -- Set instead of user_id when an API key signed in.
  key_id text,
  -- SHA-256 of the cookie, which has 256 random bits.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  method text NOT NULL CHECK (method IN ('link', 'password', 'passkey', 'oidc', 'key')),
  ip text NOT NULL CHECK (char_length(ip) <= 64),
  user_agent text NOT NULL CHECK (char_length(user_agent) <= 300),
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK ((user_id IS NULL) <> (key_id IS NULL)),
  FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX console_sessions_newest ON console_sessions (organization_id, id DESC);
CREATE INDEX console_sessions_user ON console_sessions (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX console_sessions_key ON console_sessions (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX console_sessions_expired ON console_sessions (expires_at);

-- A link signs its member in once. Its row is deleted by the request that uses it.
CREATE TABLE console_links (
  token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  organization_id text NOT NULL,
  user_id text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
);

-- Attempts to sign in, per account, per address and per both. `subject` is a SHA-256, because it may be a stranger's input.
CREATE TABLE console_attempts (
  subject bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
  started_at timestamptz NOT NULL,
  attempts integer NOT NULL CHECK (attempts >= 0)
);
CREATE INDEX console_attempts_oldest ON console_attempts (started_at);

-- Passkeys of members (WebAuthn).
CREATE TABLE console_passkeys (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  user_id text NOT NULL,
  -- base64url, as browsers send it.
  credential_id text NOT NULL UNIQUE CHECK (char_length(credential_id) BETWEEN 1 AND 1400),
  -- COSE key.
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX console_passkeys_user ON console_passkeys (user_id, id);

-- Challenges that a browser has to answer once. The request that answers one deletes its row.
CREATE TABLE console_challenges (
  challenge_hash bytea PRIMARY KEY CHECK (octet_length(challenge_hash) = 32),
  -- The member adding a passkey. Null for a sign-in.
  user_id text REFERENCES users (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX console_challenges_expired ON console_challenges (expires_at);

-- Connected apps (OAuth 2.1). Clients that registered themselves (RFC 7591). A client with a metadata document has no row.
CREATE TABLE oauth_clients (
  id text PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  redirect_uris text[] NOT NULL CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
  created_at timestamptz NOT NULL
);
CREATE INDEX oauth_clients_oldest ON oauth_clients (created_at);

-- A grant is an API key that has no plaintext: its agents, scopes, expiry and revocation are those of the key.
CREATE TABLE oauth_grants (
  key_id text PRIMARY KEY,
  organization_id text NOT NULL,
  -- The id of a registered client, or the URL of a metadata document.
  client_id text NOT NULL CHECK (char_length(client_id) BETWEEN 1 AND 2000),
  client_name text NOT NULL CHECK (char_length(client_name) BETWEEN 1 AND 100),
  -- The host of the metadata document, or null for a client that registered itself.
  client_host text,
  -- The only resource that accepts the tokens (RFC 8707).
  resource text NOT NULL,
  toolsets text[] NOT NULL,
  is_read_only boolean NOT NULL,
  mail_approval text NOT NULL CHECK (mail_approval IN ('agent', 'always', 'ask')),
  UNIQUE (organization_id, key_id),
  FOREIGN KEY (organization_id, key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX oauth_grants_client ON oauth_grants (client_id);

CREATE TABLE oauth_codes (
  -- SHA-256 of a code with 256 random bits.
  code_hash bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
  organization_id text NOT NULL,
  key_id text NOT NULL,
  redirect_uri text NOT NULL,
  -- base64url of a SHA-256 (RFC 7636).
  code_challenge text NOT NULL CHECK (char_length(code_challenge) = 43),
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  FOREIGN KEY (organization_id, key_id) REFERENCES oauth_grants (organization_id, key_id) ON DELETE CASCADE
);
CREATE INDEX oauth_codes_expired ON oauth_codes (expires_at);
CREATE INDEX oauth_codes_key ON oauth_codes (key_id);

CREATE TABLE oauth_tokens (
  -- SHA-256 of a token with 256 random bits.
  token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
  organization_id text NOT NULL,
  key_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('access', 'refresh')),
  expires_at timestamptz NOT NULL,
  -- Set on a refresh token that was exchanged. Its second use revokes the grant, except for the first seconds.
  used_at timestamptz,
  -- The hash of the refresh token that replaced it, and that token, encrypted with a key that is made of the replaced one.
  successor_hash bytea CHECK (octet_length(successor_hash) = 32),
  successor bytea,
  CHECK ((successor IS NULL) = (successor_hash IS NULL)),
  FOREIGN KEY (organization_id, key_id) REFERENCES oauth_grants (organization_id, key_id) ON DELETE CASCADE
);
CREATE INDEX oauth_tokens_expired ON oauth_tokens (expires_at);
CREATE INDEX oauth_tokens_key ON oauth_tokens (key_id);

-- Statements are planned once for all owners. If one owner has most rows of a table, the planner would walk the table by id to find the
-- newest row of any owner. With the estimate of a hundred rows per owner, it always takes the owner's index. Every area does this.
ALTER TABLE api_keys ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE console_sessions ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE console_passkeys ALTER COLUMN user_id SET (n_distinct = -0.01);
ALTER TABLE oauth_grants ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE audit_log ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE identities ALTER COLUMN organization_id SET (n_distinct = -0.01);
-- A list of requests by key, path or status looks for each operation and status class. Where nearly all requests have the same ones, the
-- planner would take a walk through all requests of the organization for cheap, once for each of the others.
ALTER TABLE api_requests ALTER COLUMN organization_id SET (n_distinct = -0.01), ALTER COLUMN key_id SET (n_distinct = -0.01),
  ALTER COLUMN operation SET (n_distinct = 200), ALTER COLUMN status_class SET (n_distinct = 5);
ANALYZE api_keys, api_requests, audit_log, identities;
