// The routes of the overview and of the counts beside folders.
import type { Overviews } from '../../features/account/overview/operations.ts'
import { type ConsoleRoute, signedIn } from './routes.ts'

export const overviewRoutes = (overviews: Overviews): ConsoleRoute[] => [
  signedIn('session', 'GET', 'overview', null, async ({ session }) => ({ body: await overviews.describe(session) })),
  signedIn('session', 'GET', 'folders', null, async ({ session, query }) => ({
    body: await overviews.countFolders(session, query.mailbox || null),
  })),
]
