-- Senders whose messages are being counted for the wake guard, and the messages that wait for the event at the end of the window.

CREATE TABLE wake_windows (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  identity_id text NOT NULL,
  sender text NOT NULL,
  started_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  messages integer NOT NULL CHECK (messages > 0),
  held integer NOT NULL DEFAULT 0 CHECK (held >= 0),
  -- The first 1,000 held messages and the last one.
  held_ids text[] NOT NULL DEFAULT '{}',
  UNIQUE (identity_id, sender),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX wake_windows_end ON wake_windows (ends_at);
