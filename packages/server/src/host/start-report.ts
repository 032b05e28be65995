// Prints the start and the stop of the server: a page for people on a terminal, and fixed lines for programs otherwise.
import type { App } from '../app.ts'
import type { Log } from '../core/log.ts'

export type StartReport = {
  /** A step of the start that may take seconds. */
  step(sentence: string): void
  ready(app: App): void
  /** The work that a stop waits for, by name. `graceSeconds` is the longest wait. */
  stopping(pending: Record<string, number>, graceSeconds: number): void
}

type Output = { isTerminal: boolean; log: Log; print: (line: string) => void; elapsedMs: () => number; version: string }

export const createStartReport = (output: Output): StartReport => (output.isTerminal ? forPeople(output) : forPrograms(output))

function forPrograms({ print, log }: Output): StartReport {
  return {
    step: () => {},
    ready(app) {
      for (const line of app.listening) print(`callsign listening ${line}`)
      if (app.firstKey !== null) {
        print('')
        print(`Your organization key, shown this once: ${app.firstKey}`)
        print(`  ${exportsOf(app, app.firstKey)}`)
        print(`  ${tryCommand}`)
      }
      if (app.consoleUrl !== null) {
        print(
          isSignInLink(app.consoleUrl)
            ? `Console, signed in once within 15 minutes: ${app.consoleUrl}`
            : `Console: ${app.consoleUrl} (callsignd console-link signs in)`,
        )
        print(`MCP client: npx add-mcp ${app.publicUrl}/mcp (docs/mcp.md)`)
      }
      print(`Documentation: ${app.publicUrl}/docs   Five-minute tour: README.md`)
      print(`callsign ready ${app.publicUrl}`)
    },
    stopping: (pending) => log.info({ pending }, 'stopping'),
  }
}

/** The two variables that every client reads. */
const exportsOf = (app: App, key: string): string => `export CALLSIGN_URL=${app.publicUrl} CALLSIGN_API_KEY=${key}`

const tryCommand = 'curl -s $CALLSIGN_URL/api/v1/me -H "Authorization: Bearer $CALLSIGN_API_KEY"'

const isSignInLink = (url: string): boolean => url.includes('#link=')

function forPeople({ print, elapsedMs, version }: Output): StartReport {
  print(`Callsign ${version}`)
  return {
    step: (sentence) => print(`  ${sentence}`),
    ready(app) {
      print('')
      if (app.firstKey !== null) printFirstKey(app, app.firstKey, print)
      print('Where to go')
      if (app.consoleUrl !== null)
        print(
          `  Console   ${app.consoleUrl}${isSignInLink(app.consoleUrl) ? '\n            The link signs you in once, within 15 minutes.' : ''}`,
        )
      print(`  API       ${app.publicUrl}/api/v1`)
      print(`  Reference ${app.publicUrl}/docs`)
      if (app.consoleUrl !== null) print(`  MCP       ${app.publicUrl}/mcp`)
      for (const line of app.listening) print(`  Listening ${line}`)
      print('')
      print('Try')
      print(`  ${tryCommand}`)
      if (app.consoleUrl !== null) {
        print(`  npx add-mcp ${app.publicUrl}/mcp`)
        if (!isSignInLink(app.consoleUrl)) print('  npx --no callsignd console-link      a link that signs you in to the console')
      }
      print('  README.md has a tour of five minutes.')
      print('')
      print(`Ready after ${(elapsedMs() / 1000).toFixed(1)} seconds. Ctrl-C stops the server.`)
    },
    stopping(pending, graceSeconds) {
      const work = Object.entries(pending).filter(([, count]) => count > 0)
      if (work.length === 0) print('Stopping.')
      else
        print(
          `Stopping. Waiting at most ${graceSeconds} seconds for ${work.map(([name, count]) => `${name} (${count})`).join(', ')}. Press Ctrl-C again to stop at once.`,
        )
    },
  }
}

function printFirstKey(app: App, key: string, print: (line: string) => void): void {
  print('Made on this first start')
  print(`  The organization "${app.organizationName}", and its key. The key is shown this once, so store it now:`)
  print('')
  print(`  ${exportsOf(app, key)}`)
  print('')
}
