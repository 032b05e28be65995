-- Versions of a draft have every field that its recipients get. Versions that were kept before have none of the new ones.
ALTER TABLE draft_versions
  ADD COLUMN from_entry text,
  ADD COLUMN reply_to text[] NOT NULL DEFAULT '{}',
  ADD COLUMN headers jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN is_automatic boolean NOT NULL DEFAULT false,
  -- Names, types and sizes of the files.
  ADD COLUMN files jsonb NOT NULL DEFAULT '[]';
