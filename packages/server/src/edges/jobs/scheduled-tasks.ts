// Housekeeping at intervals. The tasks may run on any node, at any time and more than once.
import type { Log } from '../../core/log.ts'

/** With `isDueAtStart` the task also runs once at the start. */
export type ScheduledTask = { name: string; everyMs: number; isDueAtStart?: boolean; run: () => Promise<unknown> }

/** Runs each task after its interval, one run at a time. A failed run is logged, and the next one follows after the interval. */
export function startScheduledTasks(scheduledTasks: ScheduledTask[], log: Log): { stop: () => Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = scheduledTasks.map((task) => {
    let isRunning = false
    const runOnce = () => {
      if (isRunning) return
      isRunning = true
      const run = task
        .run()
        .then(
          () => {},
          (err) => log.error({ err, task: task.name }, 'a task failed'),
        )
        .finally(() => {
          isRunning = false
          running.delete(run)
        })
      running.add(run)
    }
    if (task.isDueAtStart) runOnce()
    return setInterval(runOnce, task.everyMs).unref()
  })
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
