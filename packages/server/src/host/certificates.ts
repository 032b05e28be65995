// Lists the certificates that an authority issues, and makes one due.
import type { Config } from '../config/settings.ts'
import { expiryMs } from '../core/renewal.ts'
import type { Sql } from '../core/sql.ts'
import { listCertificateStates, makeDue } from '../edges/postgres/certificates.ts'
import { certificateNames } from '../wiring/acme.ts'
import { CommandFailed } from './failure.ts'

type Print = (line: string) => void

/** The names of the settings. Throws CommandFailed without an authority. */
function namesOf(config: Config): string[] {
  if (config.acmeDirectory === null)
    throw new CommandFailed(
      'no authority issues certificates here: set CALLSIGN_ACME_DIRECTORY. callsignd doctor checks the certificates in files',
    )
  return certificateNames(config)
}

export async function listCertificates(config: Config, db: Sql, { json }: { json?: boolean }, print: Print): Promise<void> {
  const states = (await listCertificateStates(db, namesOf(config))).map(({ chain, ...state }) => ({
    ...state,
    expires_at: chain === null ? null : new Date(expiryMs(chain)),
  }))
  if (json) return print(JSON.stringify(states))
  if (states.length === 0) return print('no certificate has been ordered yet: start the server')
  const width = Math.max(...states.map(({ name }) => name.length))
  for (const { name, expires_at: expires, due_at: due, failures, last_error: error } of states) {
    const state = expires === null ? 'not issued yet' : `valid until ${expires.toISOString()}`
    const failed = failures === 0 ? '' : `  ${failures} failures: ${error}`
    print(`${name.padEnd(width)}  ${state}  next order ${due.toISOString()}${failed}`)
  }
}

/** Makes the certificate of a name due. A running server orders it. */
export async function renewCertificate(config: Config, db: Sql, name: string | undefined, print: Print): Promise<void> {
  const names = namesOf(config)
  if (name === undefined) throw new CommandFailed(`certificates renew needs a name: ${names.join(', ')}`, true)
  if (!names.includes(name)) throw new CommandFailed(`${name} is not one of the names in the settings: ${names.join(', ')}`)
  if (!(await makeDue(db, name))) throw new CommandFailed(`${name} has not been ordered yet: start the server`)
  print(
    `${name} is ordered within ${config.acmeCheckSeconds} seconds by a running server with the role worker. The certificate in force is used until then. callsignd certificates shows the result.`,
  )
}
