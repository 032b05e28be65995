-- Automatic answers (RFC 3834) leave with the null return path. Whether their addressee has had one is asked before each.
CREATE INDEX messages_automatic_answers ON messages (mailbox_id, id) WHERE direction = 'outbound' AND envelope_from = '';
