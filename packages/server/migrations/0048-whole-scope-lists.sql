-- Agent keys with these scopes alone had the default of agents too. Stored lists are whole from now on.
UPDATE api_keys SET scopes = ARRAY['mail:read', 'mail:write', 'mail:send', 'drafts:read', 'drafts:write', 'templates:read', 'rules:read',
      'identities:read', 'phone:read', 'phone:write', 'imessage:read', 'imessage:send', 'tunnels:read', 'tunnels:write', 'events:read']
    || scopes
  WHERE type = 'agent' AND cardinality(scopes) > 0 AND scopes <@ ARRAY['vault:read', 'quarantine:read'];
