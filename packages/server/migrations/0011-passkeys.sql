-- Passkeys of members (WebAuthn), and challenges that a browser has to answer once.

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

-- The request that answers a challenge deletes its row.
CREATE TABLE console_challenges (
  challenge_hash bytea PRIMARY KEY CHECK (octet_length(challenge_hash) = 32),
  -- The member adding a passkey. Null for a sign-in.
  user_id text REFERENCES users (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX console_challenges_expired ON console_challenges (expires_at);

-- The number of rows per owner, for the plans of lists. See 0001-account.sql.
ALTER TABLE console_passkeys ALTER COLUMN user_id SET (n_distinct = -0.01);
