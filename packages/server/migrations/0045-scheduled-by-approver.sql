-- Mail that needs approval when it is due leaves only if the caller that scheduled it could have approved it.
ALTER TABLE drafts ADD COLUMN is_scheduled_by_approver boolean NOT NULL DEFAULT false;

-- Members that schedule can approve, and so do keys of the organization with the scope, or without a list of scopes.
UPDATE drafts d SET is_scheduled_by_approver = true
WHERE d.send_at IS NOT NULL AND NOT d.is_written_by_agent AND (d.scheduled_by_key_id IS NULL OR EXISTS (
  SELECT 1 FROM api_keys k WHERE k.id = d.scheduled_by_key_id AND k.organization_id = d.organization_id
    AND (k.scopes = '{}' OR 'drafts:approve' = ANY(k.scopes))));
