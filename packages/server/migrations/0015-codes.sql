-- What an arriving message asks its reader to type or to open, found when it was filed: a list of {kind, value, purpose, near, domain}.
ALTER TABLE messages ADD COLUMN codes jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(codes) = 'array');
