-- The console: members with their sign-in, sessions, one-time links, and counted attempts.

-- Members are users. The owner made with the organization has no e-mail address until the console sets one.
ALTER TABLE users DROP CONSTRAINT users_role_check;
ALTER TABLE users
  ADD CONSTRAINT users_role_check CHECK (role IN ('owner', 'operator', 'reviewer')),
  ADD COLUMN name text NOT NULL DEFAULT '' CHECK (char_length(name) <= 100),
  -- Lower case. Unique on the server, because it names the account at sign-in.
  ADD COLUMN email text UNIQUE CHECK (email = lower(email) AND char_length(email) BETWEEN 3 AND 254),
  -- Argon2id in PHC format.
  ADD COLUMN password_hash text,
  -- The issuer's subject that this member signed in as first. Another subject with the same address is refused.
  ADD COLUMN oidc_subject text UNIQUE,
  ADD COLUMN last_sign_in_at timestamptz;

ALTER TABLE audit_log DROP CONSTRAINT audit_log_actor_type_check;
ALTER TABLE audit_log ADD CONSTRAINT audit_log_actor_type_check CHECK (actor_type IN ('key', 'host', 'member', 'anonymous', 'link'));


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

-- The number of rows per owner, for the plans of lists. See 0001-account.sql.
ALTER TABLE console_sessions ALTER COLUMN organization_id SET (n_distinct = -0.01);
