-- Lists of whoever has little stay quick beside somebody who has a million. Statements are planned once for all owners: where one owner has most of a
-- table's rows, the planner would walk the whole table by id for the newest of any owner, and for one with few rows go through those of all the others.
-- Told that each has a hundred rows, it always takes the owner's index (migration 0026 says so of messages).
ALTER TABLE api_keys ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE audit_log ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE domains ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE events ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE identities ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE imessage_conversations ALTER COLUMN organization_id SET (n_distinct = -0.01), ALTER COLUMN identity_id SET (n_distinct = -0.01);
ALTER TABLE imessage_sends ALTER COLUMN chat_id SET (n_distinct = -0.01);
ALTER TABLE mail_rules ALTER COLUMN identity_id SET (n_distinct = -0.01);
ALTER TABLE mailboxes ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE phone_numbers ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE simulated_outbox ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE sms_messages ALTER COLUMN phone_number_id SET (n_distinct = -0.01);
ALTER TABLE suppressions ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE tunnel_requests ALTER COLUMN tunnel_id SET (n_distinct = -0.01);
ALTER TABLE tunnels ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE webhooks ALTER COLUMN organization_id SET (n_distinct = -0.01);

ANALYZE api_keys, audit_log, domains, events, identities, imessage_conversations, imessage_sends, mail_rules, mailboxes, phone_numbers, simulated_outbox,
  sms_messages, suppressions, tunnel_requests, tunnels, webhooks;
