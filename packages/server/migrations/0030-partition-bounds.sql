-- Partitions messages, raw messages, recipients and attachments by the time in their ids, in the steps 0030 to 0037. Each step is short, or reads
-- a table while others go on to read and write it. So older processes serve while a newer one migrates.

-- Adds a check that every id is from before the beginning of the month after next. Its rows then become the first partition without a scan.
-- The newest id counts as the present, should it be from a clock that was ahead.
-- OR REPLACE, because a restore into a database whose tables were dropped finds the functions.
CREATE OR REPLACE FUNCTION bound_first_partition(name text, prefix text, key text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  base32 text := '0123456789abcdefghjkmnpqrstvwxyz';
  at bigint := extract(epoch FROM date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months') * 1000;
  newest text;
  newest_at bigint := 0;
  digits text := '';
BEGIN
  EXECUTE format('SELECT max(%I) FROM %I', key, name) INTO newest;
  -- The time of an id is its first ten digits in base32.
  FOR place IN 1..10 LOOP
    newest_at := newest_at * 32 + greatest(strpos(base32, substr(newest, length(prefix) + 1 + place, 1)) - 1, 0);
  END LOOP;
  at := greatest(at, extract(epoch FROM date_trunc('month', to_timestamp(newest_at / 1000) AT TIME ZONE 'UTC') + interval '2 months') * 1000);
  FOR place IN REVERSE 9..0 LOOP
    digits := digits || substr(base32, (at >> (5 * place))::bit(5)::integer + 1, 1);
  END LOOP;
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT first_partition CHECK (%I < %L) NOT VALID', name, key, prefix || '_' || digits || repeat('0', 16));
END
$$;

-- Makes the table the first partition of a new table with its name, columns, indexes and references. The rows stay where they are.
CREATE OR REPLACE FUNCTION partition_table(name text, key text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first text := name || '_first';
  bound text;
  constraints text[];
  indexes text[];
  one record;
BEGIN
  SELECT substring(pg_get_constraintdef(oid) FROM '''([a-z]+_[0-9a-z]+)''') INTO STRICT bound
    FROM pg_constraint WHERE conrelid = name::regclass AND conname = 'first_partition' AND convalidated;
  -- Uniqueness of another column than the key holds within each partition only, and stays there.
  SELECT array_agg(format('ALTER TABLE %I ADD CONSTRAINT %I %s', name, conname, pg_get_constraintdef(oid)) ORDER BY contype DESC) INTO constraints
    FROM pg_constraint c WHERE conrelid = name::regclass AND conparentid = 0 AND (contype = 'f' OR (contype IN ('p', 'u')
      AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attname = key AND a.attnum = ANY(c.conkey))));
  SELECT array_agg(pg_get_indexdef(i.indexrelid)) INTO indexes FROM pg_index i
    WHERE i.indrelid = name::regclass AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.conrelid = i.indrelid);
  FOR one IN SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = name::regclass LOOP
    EXECUTE format('ALTER INDEX %I RENAME TO %I', one.relname, replace(one.relname, name, first));
  END LOOP;
  EXECUTE format('ALTER TABLE %I RENAME TO %I', name, first);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE) PARTITION BY RANGE (%I)', name, first, key);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT first_partition', name);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', name, first, bound);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT first_partition', first);
  -- Each is attached to its equal in the partition, so that no index is built and no reference is checked again.
  FOR one IN SELECT unnest(constraints || indexes) AS text LOOP
    EXECUTE one.text;
  END LOOP;
END
$$;

-- Others queue behind a step while it waits, so each gives up before PostgreSQL looks for a deadlock, and is tried again.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE messages IN ACCESS EXCLUSIVE MODE;
SET LOCAL lock_timeout = '50ms';
LOCK TABLE raw_messages, message_recipients, attachments IN ACCESS EXCLUSIVE MODE;

SELECT bound_first_partition('messages', 'msg', 'id'), bound_first_partition('raw_messages', 'raw', 'id'),
  bound_first_partition('message_recipients', 'msg', 'message_id'), bound_first_partition('attachments', 'att', 'id');
