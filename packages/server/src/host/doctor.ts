// Runs `callsignd doctor`. Checks everything that the server needs, changes nothing but a probe file, and prints its findings.
import type { Config } from '../config/settings.ts'
import type { Log } from '../core/log.ts'
import { checkDatabase } from './doctor-database.ts'
import { checkMachine } from './doctor-machine.ts'
import { checkNetwork } from './doctor-network.ts'
import type { Finding } from './finding.ts'

const marks = { ok: 'ok        ', note: 'note      ', attention: 'ATTENTION ' }

/** Prints one line per finding, and returns false when one needs attention. */
export async function runDoctor(config: Config, log: Log, print: (line: string) => void): Promise<boolean> {
  const findings: Finding[] = []
  const say = (more: Finding[]) => {
    for (const { state, text } of more) print(`${marks[state]}${text}`)
    findings.push(...more)
  }
  say(checkMachine(config))
  const network = await checkNetwork(config)
  say(network.findings)
  say(await checkDatabase(config, log, network.isServing))
  const bad = findings.filter(({ state }) => state === 'attention').length
  print('')
  print(bad === 0 ? 'Everything is fine.' : `${bad === 1 ? 'One thing needs' : `${bad} things need`} attention.`)
  return bad === 0
}
