-- Tunnels, the client sessions that serve them, and their latest requests.

CREATE TABLE tunnels (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL UNIQUE,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended', 'disabled')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- By default, headers and the beginning of bodies of the latest requests are kept, with secrets masked.
  capture text NOT NULL DEFAULT 'bodies' CHECK (capture IN ('off', 'headers', 'bodies')),
  last_request_at timestamptz,
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX tunnels_newest ON tunnels (organization_id, id DESC);
CREATE INDEX tunnels_by_status ON tunnels (organization_id, status, id DESC);

-- Processes that serve tunnels. A node whose lease has expired is dead, and its sessions are closed.
CREATE TABLE gateway_nodes (
  id text PRIMARY KEY,
  -- Address for other nodes, host:port. Null if the node takes no requests from them.
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
  -- The client's name for itself. Connections with the same name belong to one client.
  instance_id text NOT NULL CHECK (char_length(instance_id) BETWEEN 1 AND 64),
  key_id text NOT NULL,
  -- Host header for the client's target. Null passes on the Host of the public request.
  host_header text CHECK (char_length(host_header) <= 255),
  -- The scheme of the client's target. With host_header it is the target's origin, which Location and Origin are rewritten from and to.
  target_scheme text NOT NULL DEFAULT 'http' CHECK (target_scheme IN ('http', 'https')),
  connected_at timestamptz NOT NULL,
  FOREIGN KEY (organization_id, tunnel_id) REFERENCES tunnels (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX tunnel_sessions_tunnel ON tunnel_sessions (tunnel_id);
CREATE INDEX tunnel_sessions_node ON tunnel_sessions (node_id);

-- The latest requests of each tunnel, for the request inspector.
CREATE TABLE tunnel_requests (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  tunnel_id text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  status integer,
  error text,
  remote_address text NOT NULL,
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

-- The reason is in 0001-account.sql.
ALTER TABLE tunnel_requests ALTER COLUMN tunnel_id SET (n_distinct = -0.01);
ALTER TABLE tunnels ALTER COLUMN organization_id SET (n_distinct = -0.01);
ANALYZE tunnel_requests, tunnels;
