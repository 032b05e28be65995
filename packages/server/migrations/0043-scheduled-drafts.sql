-- A scheduled draft is sent in the name of the key that scheduled it, and is held like any other message unless a person approved it.
ALTER TABLE drafts
  -- The key of the latest change of a scheduled draft. Null for a member of the organization.
  ADD COLUMN scheduled_by_key_id text,
  -- True when a person approved exactly this version by scheduling it.
  ADD COLUMN is_approved boolean NOT NULL DEFAULT false;

-- Schedules that were accepted before this change stay approved.
UPDATE drafts SET is_approved = true WHERE send_at IS NOT NULL AND NOT is_written_by_agent;
