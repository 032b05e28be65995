-- The client's own ids of templates and labels. A second creation with one returns the same object.

ALTER TABLE templates ADD COLUMN client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255);
CREATE UNIQUE INDEX templates_client_id ON templates (organization_id, client_id) WHERE client_id IS NOT NULL;

ALTER TABLE labels ADD COLUMN client_id text CHECK (char_length(client_id) BETWEEN 1 AND 255);
CREATE UNIQUE INDEX labels_client_id ON labels (organization_id, client_id) WHERE client_id IS NOT NULL;
