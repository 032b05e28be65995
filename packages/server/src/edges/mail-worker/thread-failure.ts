// The reasons why a thread did not finish a task.
import { ApiError } from '../../core/errors.ts'

/** A task that its thread did not finish. */
export class ThreadFailure extends Error {}

/** A task that was not added, because too many are open. */
export class TooManyTasks extends ThreadFailure {}

/** A task that used up its time or memory. */
export class LimitExceeded extends ThreadFailure {}

/** A task that was ended for another owner. It can succeed when it is tried later. */
export class TurnEnded extends LimitExceeded {}

/** Rethrows a limit as 429. */
export function rethrowAsBusy(error: unknown): never {
  if (!(error instanceof LimitExceeded || error instanceof TooManyTasks)) throw error
  throw new ApiError('rate_limited', 'Too much of your organization is processed at once. Retry after the seconds in Retry-After.', {
    headers: { 'Retry-After': '5' },
  })
}
