// Housekeeping at intervals: sweeps that may run on any node, at any time, more than once.
import type { Log } from '../../core/log.ts'

/** `isDueAtStart`: it runs once at the start as well. */
export type ScheduledTask = { name: string; everyMs: number; isDueAtStart?: boolean; run: () => Promise<unknown> }

/** Runs each chore after its interval, again and again, one run at a time. A failed run is logged and waits for the next. */
export function startScheduledTasks(scheduledTasks: ScheduledTask[], log: Log): { stop: () => Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = scheduledTasks.map((chore) => {
    let isRunning = false
    const runOnce = () => {
      if (isRunning) return
      isRunning = true
      const run = chore
        .run()
        .then(
          () => {},
          (err) => log.error({ err, chore: chore.name }, 'a chore failed'),
        )
        .finally(() => {
          isRunning = false
          running.delete(run)
        })
      running.add(run)
    }
    if (chore.isDueAtStart) runOnce()
    return setInterval(runOnce, chore.everyMs).unref()
  })
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
