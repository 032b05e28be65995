// Reads the settings file, callsign.env. Variables of the environment win over it.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BadSetting, type Config, findSetting, findUnknownNames, readConfig, type UnknownName } from './settings.ts'

export const settingsFileName = 'callsign.env'

/** The settings of a command, read when it needs them. `loadKnown` leaves out the unknown ones. */
export type SettingsSource = { load: () => Config; loadKnown: () => { config: Config; unknown: UnknownName[] } }

type Environment = Record<string, string | undefined>

/** The data directory of the environment, or the default one. */
export const readDataDir = (environment: Environment = process.env): string => environment.CALLSIGN_DATA_DIR || './data'

/** The settings of the environment and of the file: `path`, or callsign.env in the working directory or the data directory. Throws BadSetting. */
export function loadConfig(path: string | null, environment: Environment = process.env): Config {
  return readConfig(loadEnvironment(path, environment))
}

/** The settings without the unknown ones, which are returned beside them: an upgrade may remove or rename some. */
export function loadKnownConfig(path: string | null, environment: Environment = process.env): { config: Config; unknown: UnknownName[] } {
  const given = loadEnvironment(path, environment, true)
  const unknown = findUnknownNames(given)
  const known = Object.entries(given).filter(([name]) => !unknown.some((one) => one.name === name))
  return { config: readConfig(Object.fromEntries(known)), unknown }
}

/** The variables of the file and of the environment. */
export function loadEnvironment(path: string | null, environment: Environment = process.env, mayBeUnknown = false): Environment {
  const found = path ?? findFile(environment)
  return found === null ? environment : { ...readSettingsFile(found, mayBeUnknown), ...environment }
}

function findFile(environment: Environment): string | null {
  const folders = ['.', readDataDir(environment)]
  return folders.map((folder) => join(folder, settingsFileName)).find((path) => existsSync(path)) ?? null
}

/** The variables of a file. An unknown name, unless `mayBeUnknown`, or a bad value is refused with its line. */
export function readSettingsFile(path: string, mayBeUnknown = false): Record<string, string> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new BadSetting(
      `the settings file ${resolve(path)} cannot be read (${(error as NodeJS.ErrnoException).code}): name another with --config`,
    )
  }
  const values: Record<string, string> = {}
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const refuse = (reason: string): never => {
      throw new BadSetting(`${path}, line ${index + 1}: ${reason}`)
    }
    if (/^\s*(#|$)/.test(line)) continue
    const [, name = '', raw = ''] = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name === '') refuse('a line is NAME=value, or a comment that begins with #')
    if (name in values) refuse(`${name} is set twice: remove one`)
    const value = unquote(raw)
    const setting = findSetting(name)
    if (setting === undefined && !mayBeUnknown) refuse(`${name} is not a setting of callsignd: correct the name by docs/configuration.md`)
    if (setting && setting.name === name && value !== '') {
      try {
        setting.read(value)
      } catch (error) {
        refuse(`${name} ${(error as Error).message}${setting.secret ? '' : `, not "${value}"`}`)
      }
    }
    values[name] = value
  }
  return values
}

/** Values may be in quotes, so that systemd and shells read the file too. */
const unquote = (text: string): string => /^(['"])(.*)\1$/.exec(text)?.[2] ?? text

/** One line of the file. Values with signs that a shell reads are in single quotes. */
export function settingLine(name: string, value: string): string {
  if (/[\r\n']/.test(value)) throw new BadSetting(`${name} must not have line ends or single quotes`)
  return /^[A-Za-z0-9_./:@%+,=-]*$/.test(value) ? `${name}=${value}` : `${name}='${value}'`
}
