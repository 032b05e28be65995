-- Rare rows among many others. An event of a type that an organization or an agent never had is found without a walk through its log. The
-- predicate leaves the work to the assignment of positions: a transaction that makes an event adds nothing here.

CREATE INDEX events_placed_type ON events (organization_id, type, position) WHERE position IS NOT NULL;
CREATE INDEX events_placed_identity_type ON events (identity_id, type, position) WHERE position IS NOT NULL AND identity_id IS NOT NULL;
-- It held a part of the index above.
DROP INDEX events_placed_labels;

-- A list of requests by key, path or status looks for each operation and status class. Where nearly all requests have the same ones, the
-- planner would take a walk through all requests of the organization for cheap, once for each of the others.
ALTER TABLE api_requests ALTER COLUMN operation SET (n_distinct = 200), ALTER COLUMN status_class SET (n_distinct = 5);
ANALYZE api_requests;
