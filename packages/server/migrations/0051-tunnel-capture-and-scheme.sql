-- New tunnels keep headers and the beginning of bodies of their latest requests, with secrets masked, so that a request can be looked at and
-- replayed without having been expected. Existing tunnels keep what their owners chose.
ALTER TABLE tunnels ALTER COLUMN capture SET DEFAULT 'bodies';

-- The scheme of the client's target. With host_header it is the target's origin, which Location and Origin are rewritten from and to.
ALTER TABLE tunnel_sessions ADD COLUMN target_scheme text NOT NULL DEFAULT 'http' CHECK (target_scheme IN ('http', 'https'));
