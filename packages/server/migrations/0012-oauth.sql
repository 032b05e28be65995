-- Connected apps (OAuth 2.1): clients, grants, and their codes and tokens.

-- Clients that registered themselves (RFC 7591). A client with a metadata document has no row.
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

-- The number of rows per owner, for the plans of lists. See 0001-account.sql.
ALTER TABLE oauth_grants ALTER COLUMN organization_id SET (n_distinct = -0.01);
