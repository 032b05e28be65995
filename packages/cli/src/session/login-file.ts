// The file that `callsign login` keeps, and the choice of server and key.
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Login, text, type Values } from '../command.ts'
import type { Input } from '../terminal/input.ts'
import { UsageError } from '../usage-error.ts'
import { writePrivate } from './private-file.ts'

/** Login and pins live here: `CALLSIGN_CLIENT_DIR`, or `callsign` in the folder for settings that XDG names. */
export const clientFolder = (environment: NodeJS.ProcessEnv): string =>
  environment.CALLSIGN_CLIENT_DIR || join(environment.XDG_CONFIG_HOME || join(homedir(), '.config'), 'callsign')

const fileIn = (folder: string) => join(folder, 'login.json')

/** Creates the folder, accessible to its owner only. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

export async function readLogin(folder: string): Promise<Login | null> {
  const file = fileIn(folder)
  let content: string
  try {
    content = await readFile(file, 'utf8')
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new UsageError(`${file} is readable by other users. Run chmod 600 on it, or log in again.`)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
  try {
    const { url, api_key: apiKey } = JSON.parse(content) as Record<string, unknown>
    if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey }
  } catch {
    // Said below.
  }
  throw new UsageError(`${file} is not a valid login file. Log in again.`)
}

/** Writes the file atomically with mode 0600. */
export async function writeLogin(folder: string, login: Login): Promise<string> {
  await makeFolder(folder)
  const file = fileIn(folder)
  await writePrivate(`${file}.new`, `${JSON.stringify({ url: login.url, api_key: login.apiKey }, null, 1)}\n`, 'w')
  await rename(`${file}.new`, file)
  return file
}

export const removeLogin = (folder: string): Promise<void> => rm(fileIn(folder), { force: true })

/** The address of a server that was started with its defaults on this machine. */
const urlDefault = 'http://localhost:8080'

/**
 * Server and key from options, then environment, then the login, then the default address. The login's key is only sent to the login's server, so another address needs
 * another key. Throws UsageError when something is missing.
 */
export async function chooseLogin(values: Values, environment: NodeJS.ProcessEnv, folder: string, input: Input): Promise<Login> {
  const keyFile = text(values, 'api-key-file')
  const givenUrl = text(values, 'url') ?? (environment.CALLSIGN_URL || undefined)
  const givenKey = keyFile !== undefined ? await input.file(keyFile) : environment.CALLSIGN_API_KEY || undefined
  const stored = givenUrl !== undefined && givenKey !== undefined ? null : await readLogin(folder)
  const url = givenUrl ?? stored?.url ?? urlDefault
  if (!/^https?:\/\/[^/]/.test(url)) throw new UsageError(`The server's address must begin with http:// or https://, unlike "${url}".`)
  if (/\/api\/v1\/*$/.test(url)) throw new UsageError(`The server's address is given without /api/v1: ${url.replace(/\/api\/v1\/*$/, '')}`)
  if (givenKey === undefined && stored && stored.url !== url) {
    throw new UsageError(`The stored key belongs to ${stored.url}. Give one for ${url} with --api-key-file or CALLSIGN_API_KEY.`)
  }
  const apiKey = givenKey ?? stored?.apiKey
  if (apiKey === undefined)
    throw new UsageError('The API key is missing. Give --api-key-file or CALLSIGN_API_KEY, or run `callsign login`.')
  return { url, apiKey: apiKey.trim() }
}
