-- Links that approve drafts go only to URLs of webhooks that were set with the right to approve drafts.
ALTER TABLE webhooks ADD COLUMN is_url_of_approver boolean NOT NULL DEFAULT false;
-- Only callers with this right could subscribe to requests for approval.
UPDATE webhooks SET is_url_of_approver = true WHERE event_types && ARRAY['*', 'draft.approval_requested'];
ALTER TABLE webhooks
  ADD CONSTRAINT webhooks_approval_links CHECK (is_url_of_approver OR NOT event_types && ARRAY['*', 'draft.approval_requested']);
