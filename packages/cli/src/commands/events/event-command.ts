// Runs a shell command with events on its standard input.
import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import type { CallsignEvent } from '@callsign/sdk'
import type { Output } from '../../terminal/output.ts'

const jsonLines = (events: CallsignEvent[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')

/**
 * Runs the command once, with one line of JSON per event. The content of events is foreign, so that it is never a part of the command line.
 * Resolves with null for exit code 0, otherwise with the reason.
 */
export async function runCommand(
  command: string,
  events: CallsignEvent[],
  attempt: number,
  environment: NodeJS.ProcessEnv,
  output: Output,
): Promise<string | null> {
  const last = events.at(-1) as CallsignEvent
  const startedMs = performance.now()
  const reason = await new Promise<string | null>((resolve) => {
    const child = spawn(command, {
      shell: true,
      // Standard output belongs to the results of this program when they are JSON.
      stdio: ['pipe', output.isJson ? 2 : 'inherit', 'inherit'],
      env: { ...environment, CALLSIGN_EVENT_ID: last.id, CALLSIGN_EVENT_TYPE: last.type, CALLSIGN_ATTEMPT: String(attempt) },
    })
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(code === 0 ? null : signal ? `ended by ${signal}` : `exit code ${code}`))
    // A command that does not read its input is not an error.
    child.stdin?.on('error', () => {})
    child.stdin?.end(jsonLines(events))
  })
  const durationMs = Math.round(performance.now() - startedMs)
  const ids = events.map(({ id }) => id)
  if (output.isJson) output.line({ event_ids: ids, type: last.type, attempt, error: reason, duration_ms: durationMs })
  else output.note(`${last.type} ${ids.join(' ')} ${reason ?? 'done'} ${durationMs} ms`)
  return reason
}

/** Adds events that are given up to a file, one line of JSON each, before they are recorded as done. */
export async function recordFailed(file: string, events: CallsignEvent[], reason: string, output: Output): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.appendFile(jsonLines(events))
    await handle.sync()
  } finally {
    await handle.close()
  }
  output.note(`Gave up on ${events.map(({ id }) => id).join(', ')} (${reason}). Added to ${file}`)
}
