-- PostgreSQL inlines a function in SQL, and for that reads its body in each statement that writes a row. Functions in PL/pgSQL are called only
-- when there is a value. The conditions are the same.

CREATE OR REPLACE FUNCTION is_metadata(metadata jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN jsonb_typeof(metadata) = 'object' AND octet_length(metadata::text) <= 16384
    AND (SELECT count(*) BETWEEN 1 AND 50 AND bool_and(char_length(key) <= 100 AND jsonb_typeof(value) IN ('string', 'number', 'boolean'))
      FROM jsonb_each(CASE WHEN jsonb_typeof(metadata) = 'object' THEN metadata ELSE '{}' END));
END
$$;

CREATE OR REPLACE FUNCTION is_tags(tags text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT count(*) BETWEEN 1 AND 50 AND count(DISTINCT split_part(tag, ':', 1)) = count(*)
    AND bool_and(tag ~ '^[A-Za-z0-9_-]+:[A-Za-z0-9_-]+$' AND char_length(tag) <= 513) FROM unnest(tags) AS tag);
END
$$;

CREATE OR REPLACE FUNCTION folded_addresses(addresses text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN ARRAY(SELECT lower(address) FROM unnest(addresses) AS address);
END
$$;
