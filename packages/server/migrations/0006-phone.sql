-- Phone numbers, and the texts that arrive at them.

-- A number from the intent to buy it to its release. The intent is committed before the order is placed. The id is the order key.
CREATE TABLE phone_numbers (
  id text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- Null from the start of the release, so that the identity can be deleted and the agent can get another number.
  identity_id text,
  agent_handle text NOT NULL,
  provider text NOT NULL CHECK (provider IN ('simulator', 'telnyx', 'twilio')),
  country_code text NOT NULL CHECK (country_code IN ('US', 'CA')),
  type text NOT NULL CHECK (type IN ('local', 'toll_free')),
  -- The requested region and area code. Without a requested region, the region of a number follows from its area code.
  wanted_region text,
  wanted_area_code text,
  state text NOT NULL CHECK (state IN ('ordering', 'active', 'releasing', 'released', 'failed')),
  -- The number being ordered, then the number that is owned.
  phone_number text CHECK (phone_number ~ '^\+[1-9][0-9]{6,14}$'),
  provider_number_id text,
  -- Times of the latest order, and of the latest order whose response was lost.
  ordered_at timestamptz,
  uncertain_at timestamptz,
  -- Ordered numbers that turned out to belong to another customer of the provider.
  taken_numbers text[] NOT NULL DEFAULT '{}',
  failure_code text CHECK (failure_code IN ('no_numbers_available', 'upstream_provider_error')),
  failure_detail text,
  -- Time at which a response with this number was sent. A purchase whose request died is given to the next request like it.
  delivered_at timestamptz,
  activated_at timestamptz,
  sms_status text NOT NULL DEFAULT 'pending' CHECK (sms_status IN ('pending', 'ready', 'assignment_failed')),
  sms_error_code text,
  sms_error_detail text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (organization_id, id),
  CHECK ((state IN ('ordering', 'active')) = (identity_id IS NOT NULL)),
  CHECK (state <> 'active' OR (phone_number IS NOT NULL AND provider_number_id IS NOT NULL AND activated_at IS NOT NULL)),
  CHECK ((state = 'failed') = (failure_code IS NOT NULL)),
  CHECK ((sms_status = 'assignment_failed') = (sms_error_code IS NOT NULL)),
  CHECK (wanted_region IS NULL OR wanted_area_code IS NULL),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identities (organization_id, id),
  FOREIGN KEY (organization_id, agent_handle) REFERENCES handles (organization_id, handle)
);
-- One number per agent, ordered or owned.
CREATE UNIQUE INDEX phone_numbers_one_an_agent ON phone_numbers (identity_id) WHERE identity_id IS NOT NULL;
-- One row per number, from before its order until the provider has taken it back.
CREATE UNIQUE INDEX phone_numbers_one_a_number ON phone_numbers (phone_number) WHERE state IN ('ordering', 'active', 'releasing');
CREATE UNIQUE INDEX phone_numbers_provider ON phone_numbers (provider, provider_number_id) WHERE state IN ('active', 'releasing');
CREATE INDEX phone_numbers_newest ON phone_numbers (organization_id, id DESC) WHERE state = 'active';

CREATE TABLE sms_messages (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  phone_number_id text NOT NULL,
  type text NOT NULL CHECK (type IN ('sms', 'mms')),
  from_number text NOT NULL,
  to_numbers text[] NOT NULL,
  text text NOT NULL,
  is_read boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  -- One-time codes and sign-in links, found when the text is filed.
  codes jsonb NOT NULL DEFAULT '[]',
  UNIQUE (organization_id, id),
  FOREIGN KEY (organization_id, phone_number_id) REFERENCES phone_numbers (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX sms_messages_newest ON sms_messages (phone_number_id, id DESC);

-- Every received text by the provider's id. A provider may repeat a text in a callback or in its list.
CREATE TABLE sms_arrivals (
  provider text NOT NULL,
  provider_message_id text NOT NULL CHECK (char_length(provider_message_id) <= 200),
  id text NOT NULL UNIQUE,
  organization_id text NOT NULL,
  phone_number_id text NOT NULL,
  -- The text while its media is being fetched. Null once it is filed.
  pending jsonb,
  arrived_at timestamptz NOT NULL,
  PRIMARY KEY (provider, provider_message_id),
  FOREIGN KEY (organization_id, phone_number_id) REFERENCES phone_numbers (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX sms_arrivals_oldest ON sms_arrivals (arrived_at);
CREATE INDEX sms_arrivals_number ON sms_arrivals (phone_number_id);

-- Time up to which the list of a provider's inbound texts has been read.
CREATE TABLE sms_catch_ups (
  provider text PRIMARY KEY,
  caught_up_at timestamptz NOT NULL
);

-- The files of a text, in order. Small bytes stay in the row. A file that could not be fetched from the provider has no bytes.
CREATE TABLE sms_media (
  id text PRIMARY KEY,
  organization_id text NOT NULL,
  sms_id text NOT NULL,
  position integer NOT NULL,
  filename text NOT NULL,
  content_type text NOT NULL,
  size_bytes integer NOT NULL CHECK (size_bytes >= 0),
  bytes bytea,
  blob_key text UNIQUE,
  UNIQUE (sms_id, position),
  CHECK (bytes IS NULL OR blob_key IS NULL),
  CHECK (bytes IS NOT NULL OR blob_key IS NOT NULL OR size_bytes = 0),
  FOREIGN KEY (organization_id, sms_id) REFERENCES sms_messages (organization_id, id) ON DELETE CASCADE
);
ALTER TABLE sms_media ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- The reason is in 0001-account.sql.
ALTER TABLE phone_numbers ALTER COLUMN organization_id SET (n_distinct = -0.01);
ALTER TABLE sms_messages ALTER COLUMN phone_number_id SET (n_distinct = -0.01);
ANALYZE phone_numbers, sms_messages;
