-- Parts of senders and subjects, recipients and labels are found in a large mailbox without a walk through all of it, by mailbox and era as words are
-- (migration 0026): some twenty seconds for a million messages.

SET LOCAL maintenance_work_mem = '256MB';

-- A database that does not offer pg_trgm works without the index of parts: such filters walk.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available: %', SQLERRM;
END
$$;

DO $$
BEGIN
  CREATE INDEX messages_parts ON messages USING gin ((mailbox_id || substr(id, 5, 4)), (from_address || E'\n' || from_name) gin_trgm_ops, subject gin_trgm_ops);
EXCEPTION WHEN undefined_object THEN
  NULL;
END
$$;

-- Restoring a backup may make a schema again where this is left from the one before.
CREATE OR REPLACE FUNCTION folded_addresses(addresses text[]) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ARRAY(SELECT lower(address) FROM unnest(addresses) AS address);

-- The function costs as much as the rest: most messages have one recipient and do without.
DO $$
BEGIN
  CREATE INDEX messages_recipients ON messages USING gin ((mailbox_id || substr(id, 5, 4)), (CASE
    WHEN cardinality(to_addresses || cc_addresses || bcc_addresses) = 1 THEN ARRAY[lower((to_addresses || cc_addresses || bcc_addresses)[1])]
    ELSE folded_addresses(to_addresses || cc_addresses || bcc_addresses) END));
EXCEPTION WHEN undefined_object THEN
  CREATE INDEX messages_recipients ON messages USING gin ((CASE
    WHEN cardinality(to_addresses || cc_addresses || bcc_addresses) = 1 THEN ARRAY[lower((to_addresses || cc_addresses || bcc_addresses)[1])]
    ELSE folded_addresses(to_addresses || cc_addresses || bcc_addresses) END));
END
$$;

DROP INDEX messages_labels;
DO $$
BEGIN
  CREATE INDEX messages_labels ON messages USING gin ((mailbox_id || substr(id, 5, 4)), labels) WHERE labels <> '{}';
EXCEPTION WHEN undefined_object THEN
  CREATE INDEX messages_labels ON messages USING gin (labels) WHERE labels <> '{}';
END
$$;

-- The planner takes what it knows of expressions from their indexes.
ANALYZE messages;
