-- Addresses have up to 255 octets before the @, as forwarders and reply tokens need.
ALTER TABLE mail_rules DROP CONSTRAINT mail_rules_entry_check,
  ADD CONSTRAINT mail_rules_entry_check CHECK (entry !~ '[A-Z]' AND char_length(entry) BETWEEN 1 AND 511);
ALTER TABLE suppressions DROP CONSTRAINT suppressions_email_address_check,
  ADD CONSTRAINT suppressions_email_address_check CHECK (email_address !~ '[A-Z]' AND char_length(email_address) <= 511);
