-- Outbound messages and their recipients are written once and updated when they are delivered. With room in its page a row is rewritten there and no index is
-- touched; without it, each of a message's indexes gets a second entry, the one of words too.
ALTER TABLE messages SET (fillfactor = 80);
ALTER TABLE message_recipients SET (fillfactor = 80);
