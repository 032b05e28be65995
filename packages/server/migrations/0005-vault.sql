-- Vaults, one per organization, with wrapped keys, ciphertext secrets, grants to agents, and failed unlock attempts.
-- A writer to a vault, and a check of an unlock hash, lock the vault's row in `vaults`, the only lock.

CREATE TABLE vaults (
  organization_id text PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  id text NOT NULL,
  -- Counts organization keys. A rotation increments it.
  key_version integer NOT NULL CHECK (key_version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- The organization key, wrapped once under the primary key and once under each recovery key. Each key has its own salt, so that recovery
-- keys stay valid when the primary key changes.
CREATE TABLE vault_keys (
  organization_id text NOT NULL REFERENCES vaults (organization_id) ON DELETE CASCADE,
  id text NOT NULL,
  type text NOT NULL CHECK (type IN ('primary', 'recovery')),
  kdf_salt bytea NOT NULL CHECK (octet_length(kdf_salt) BETWEEN 16 AND 64),
  kdf_memory_kib integer NOT NULL CHECK (kdf_memory_kib BETWEEN 19456 AND 1048576),
  kdf_passes integer NOT NULL CHECK (kdf_passes BETWEEN 2 AND 16),
  kdf_lanes integer NOT NULL CHECK (kdf_lanes BETWEEN 1 AND 16),
  -- SHA-256(auth_salt, auth_hash). The hash itself unlocks the vault and is not stored.
  auth_salt bytea NOT NULL CHECK (octet_length(auth_salt) = 16),
  auth_digest bytea NOT NULL CHECK (octet_length(auth_digest) = 32),
  wrapped_org_key bytea NOT NULL CHECK (octet_length(wrapped_org_key) BETWEEN 62 AND 1024),
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX vault_keys_primary ON vault_keys (organization_id) WHERE type = 'primary';

-- Ids of deleted keys. Deleting again answers 200, and an id that never existed answers 404.
CREATE TABLE deleted_vault_keys (
  organization_id text NOT NULL REFERENCES vaults (organization_id) ON DELETE CASCADE,
  id text NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Clients may choose ids. They are unique within an organization, so that a client can neither detect nor take the id of another one.
CREATE TABLE vault_secrets (
  organization_id text NOT NULL REFERENCES vaults (organization_id) ON DELETE CASCADE,
  id text NOT NULL,
  type text NOT NULL CHECK (type IN ('login', 'api_key', 'key_pair', 'ssh_key', 'other')),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  description text CHECK (char_length(description) <= 2000),
  -- Strict base64, as in requests and responses. An unlock returns all secrets, and recoding each would cost more than the rest of it.
  encrypted_payload text NOT NULL CHECK (octet_length(encrypted_payload) BETWEEN 40 AND 87384),
  revision integer NOT NULL CHECK (revision >= 1),
  key_version integer NOT NULL CHECK (key_version >= 1),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
-- Ciphertext does not compress.
ALTER TABLE vault_secrets ALTER COLUMN encrypted_payload SET STORAGE EXTERNAL;

-- Ids of deleted secrets. Deleting again answers 200, an id that never existed answers 404, and an id is not used twice.
CREATE TABLE deleted_vault_secrets (
  organization_id text NOT NULL REFERENCES vaults (organization_id) ON DELETE CASCADE,
  id text NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);

-- Both foreign keys carry the same organization, so that a grant across organizations cannot be stored.
CREATE TABLE vault_access (
  organization_id text NOT NULL,
  id text NOT NULL,
  secret_id text NOT NULL,
  identity_id text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, secret_id, identity_id),
  FOREIGN KEY (organization_id, secret_id) REFERENCES vault_secrets (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX vault_access_identity ON vault_access (organization_id, identity_id, secret_id);
CREATE INDEX vault_access_newest ON vault_access (organization_id, secret_id, id DESC);

CREATE TABLE vault_unlock_failures (
  organization_id text NOT NULL REFERENCES vaults (organization_id) ON DELETE CASCADE,
  id text NOT NULL,
  -- API key of the failed attempt.
  key_id text NOT NULL,
  -- Agent of that key. Null for an organization key.
  identity_id text,
  failed_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX vault_unlock_failures_newest ON vault_unlock_failures (organization_id, failed_at DESC);
