-- Tunnels beyond their row: who is connected where, and what came through lately.

ALTER TABLE tunnels
  ADD COLUMN capture text NOT NULL DEFAULT 'off' CHECK (capture IN ('off', 'headers', 'bodies')),
  ADD COLUMN last_request_at timestamptz;
CREATE INDEX tunnels_newest ON tunnels (organization_id, id DESC);
CREATE INDEX tunnels_by_status ON tunnels (organization_id, status, id DESC);

-- A process that serves tunnels. One whose lease has run out is dead, and its sessions with it.
CREATE TABLE gateway_nodes (
  id text PRIMARY KEY,
  -- Where other nodes reach it, host:port; null when it takes no requests of theirs.
  address text,
  leased_until timestamptz NOT NULL,
  is_draining boolean NOT NULL DEFAULT false
);

-- One connection of one client.
CREATE TABLE tunnel_sessions (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  tunnel_id text NOT NULL,
  node_id text NOT NULL REFERENCES gateway_nodes (id) ON DELETE CASCADE,
  -- The client's own name for itself: connections with one name are one client.
  instance_id text NOT NULL CHECK (char_length(instance_id) BETWEEN 1 AND 64),
  key_id text NOT NULL,
  -- What stands in Host towards the client's target; null: what the visitor asked for.
  host_header text CHECK (char_length(host_header) <= 255),
  connected_at timestamptz NOT NULL,
  FOREIGN KEY (organization_id, tunnel_id) REFERENCES tunnels (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX tunnel_sessions_tunnel ON tunnel_sessions (tunnel_id);
CREATE INDEX tunnel_sessions_node ON tunnel_sessions (node_id);

-- The latest requests of each tunnel, for people who look at them.
CREATE TABLE tunnel_requests (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  tunnel_id text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  status integer,
  error text,
  visitor_address text NOT NULL,
  request_bytes bigint NOT NULL,
  response_bytes bigint NOT NULL,
  duration_ms integer NOT NULL,
  -- The request that this one repeats.
  replay_of text,
  is_captured boolean NOT NULL,
  request_headers jsonb,
  response_headers jsonb,
  request_body bytea,
  response_body bytea,
  is_request_body_whole boolean NOT NULL,
  is_response_body_whole boolean NOT NULL,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (organization_id, tunnel_id) REFERENCES tunnels (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX tunnel_requests_newest ON tunnel_requests (tunnel_id, id DESC);
