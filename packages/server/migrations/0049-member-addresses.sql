-- An address and a subject of OpenID Connect name one member per organization, so that one tenant neither learns nor takes those of another.
ALTER TABLE users DROP CONSTRAINT users_email_key, DROP CONSTRAINT users_oidc_subject_key;
ALTER TABLE users
  ADD CONSTRAINT users_email_key UNIQUE (organization_id, email),
  ADD CONSTRAINT users_oidc_subject_key UNIQUE (organization_id, oidc_subject);
-- A person signs in before the organization is known.
CREATE INDEX users_email ON users (email) WHERE email IS NOT NULL;
