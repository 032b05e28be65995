// Builds the page on which a person approves or rejects a draft by a link.
import type { Config } from '../config/settings.ts'
import type { Pages } from '../edges/api/pages.ts'
import { approvalRoute, mountApprovalPage } from '../edges/approval/page.ts'
import type { LinkDecisions } from '../features/mail/drafts/model.ts'

/** The page of a process with the api role. */
export function createApprovalPages({ config, decisions }: { config: Config; decisions: LinkDecisions }): Pages[] {
  if (!config.roles.includes('api')) return []
  const paths = ['GET', 'POST'].map((method) => ({ method, path: approvalRoute }))
  return [{ paths, mount: (app, tools) => mountApprovalPage(app, tools, decisions) }]
}
