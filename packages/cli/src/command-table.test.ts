// The command table: examples, help and operations of every command.
import { describe, expect, test } from 'vitest'
import { operations } from '../../contract/src/index.ts'
import { globalOptions, readCommandLine } from './command-line.ts'
import { commands } from './command-table.ts'
import { commandHelp, overview, topicHelp, topicOf, topics } from './help.ts'

/** Splits an example as a shell does, up to a redirection. */
const wordsOf = (line: string): string[] =>
  [...(line.split(/ [<>]/, 1)[0] as string).matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? (plain as string),
  )

describe.each(commands.map((command) => [command.words, command] as const))('callsign %s', (words, command) => {
  test('has an example that is a valid command line for it', () => {
    const line = words === 'completion' ? 'callsign completion bash' : command.example
    const [program, ...args] = wordsOf(line)
    expect(program).toBe('callsign')
    expect(readCommandLine(args, commands)).toMatchObject({ command: { words } })
  })

  test('has help of at most 80 columns', () => {
    const help = commandHelp(command)
    const long = help.split('\n').filter((line) => line.length > 80 && line.trim() !== command.example)
    expect(long).toEqual([])
    for (const option of Object.keys(command.options ?? {})) expect(help).toContain(`--${option}`)
  })

  test('names existing operations', () => {
    const known = operations.map(({ id }) => id)
    expect(command.operations.filter((id) => !known.includes(id))).toEqual([])
  })
})

test('each field of a list is one of the query of its operation', () => {
  const wrong = commands.flatMap(({ words, operations: ids, options = {} }) => {
    const queries = operations.filter(({ id }) => ids.includes(id)).map(({ query }) => Object.keys(query?.properties ?? {}))
    const fields = Object.values(options).flatMap(({ field }) => field ?? [])
    return fields.filter((field) => !queries.flat().includes(field)).map((field) => `${words}: ${field}`)
  })
  expect(wrong).toEqual([])
})

test('every list says its order, the newest first', () => {
  const lists = commands.filter(({ options }) => options && 'cursor' in options)
  expect(lists.length).toBeGreaterThan(20)
  const others = lists.filter(({ about }) => !/newest|latest message first/.test(about))
  expect(others.map(({ words }) => words)).toEqual([])
})

test('an option with several values is repeated, and its help says so', () => {
  const options = commands.flatMap((command) => Object.entries(command.options ?? {}))
  expect(options.filter(([, { multiple, about }]) => multiple && !about.includes('Repeatable')).map(([name]) => name)).toEqual([])
  expect(options.filter(([, { about }]) => /by commas|comma list/.test(about))).toEqual([])
})

test('the overview and the topics name every command, on 80 columns', () => {
  expect(commands.map(topicOf).filter((topic) => !(topic in topics))).toEqual([])
  for (const topic of Object.keys(topics)) {
    const help = topicHelp(topic, commands)
    for (const command of commands) if (topicOf(command) === topic) expect(help).toContain(`  ${command.words}`)
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  }
  const all = overview(commands)
  expect(all.split('\n').filter((line) => line.length > 80)).toEqual([])
  for (const { words } of commands) for (const word of words.split(' ')) expect(all).toMatch(new RegExp(`\\b${word}\\b`))
})

test('an option name has one type in all commands, so that it can stand before the command', () => {
  const types = new Map<string, Set<string>>()
  for (const { options = {} } of commands)
    for (const [name, { type }] of Object.entries(options)) types.set(name, (types.get(name) ?? new Set()).add(type))
  expect([...types].filter(([, kinds]) => kinds.size > 1).map(([name]) => name)).toEqual([])
})

/** Operations that a person does not need in a terminal, with the reason. */
const withoutCommand: Record<string, string> = {
  receivePhoneHook: 'called by phone providers',
  receiveImessageCallback: 'called by iMessage providers',
  sendMessage: 'equivalent to sendMail',
  sendSmsMessage: 'always answers 405',
  getDraftAttachmentText: 'drafts show --json has a download link, and the console shows the text to reviewers',
  getImessageConversation: 'imessage conversations lists every field',
  updateVaultSecretByBody: 'equivalent to updateVaultSecret',
  deleteVaultSecretByBody: 'equivalent to deleteVaultSecret',
  revokeVaultAccessByQuery: 'equivalent to revokeVaultAccess',
  unlockVaultByQuery: 'equivalent to unlockVault',
  getVaultSecret: 'vault get unlocks, which returns the ciphertext of every readable secret',
  listVaultSecrets: 'vault list unlocks, which verifies the names too',
}

test('every operation of the API has a command or a reason', () => {
  const used = new Set(commands.flatMap((command) => command.operations))
  const missing = operations.map(({ id }) => id).filter((id) => !used.has(id) && !(id in withoutCommand))
  expect(missing).toEqual([])
  expect(Object.keys(withoutCommand).filter((id) => used.has(id))).toEqual([])
})

/** Query parameters of lists without an option of their name, with the reason. The options that a reason names exist. */
const withoutOption: Record<string, Record<string, string>> = {
  'mail list': {
    thread_id: '--thread',
    is_trashed: '--trash, because lists leave the trash out without it',
    view: '--json prints the default view, and text needs the summary',
  },
  'mail search': { q: 'the argument', view: '--json prints the default view, and text needs the summary' },
  'threads list': { q: '--search', with_last_message: 'threads show prints the messages' },
  'drafts list': { thread_id: '--thread' },
  'quarantine list': { '*': 'mail list with the status quarantined takes every filter' },
  'suppressions list': { email_address: '--address' },
  'approvals list': { order: '--oldest' },
  'imessage history': { conversation_id: 'the argument', order: '--oldest' },
  'events list': { order: '--oldest', types: '--event' },
  'webhooks deliveries': { event_type: '--event' },
  'usage list': { agent_handle: '--agent', start_date: '--from', end_date: '--to' },
  'usage storage': { agent_handle: '--agent', by: '--by-agent' },
  'requests list': { status_class: '--status', key_id: '--key' },
}

type Schema = { type?: string; enum?: unknown[]; items?: Schema }
type Fields = Record<string, Schema>

const operationsOf = (ids: string[]) => operations.filter(({ id }) => ids.includes(id))
const optionOf = (field: string): string => field.replaceAll('_', '-')

/** The options for a query parameter. A boolean has one for each of its values, such as --read and --unread for `is_read`. */
function optionsFor(parameter: string, { type }: Schema): string[] {
  if (type !== 'boolean') return [optionOf(parameter)]
  const name = optionOf(parameter.replace(/^is_(un)?/, ''))
  return [name, `un${name}`]
}

const lists = commands.filter(({ words, options = {} }) => words.endsWith(' list') || 'limit' in options)

test.each(lists.map((command) => [command.words, command] as const))('callsign %s has every filter of its operations', (words, command) => {
  const options = { ...command.options, ...globalOptions }
  const queries = operationsOf(command.operations).map(({ query }) => (query?.properties ?? {}) as Fields)
  const missing = queries
    .flatMap((query) => Object.entries(query))
    .filter(([parameter, schema]) => optionsFor(parameter, schema).some((option) => !(option in options)))
    .map(([parameter]) => parameter)
  const reasons = withoutOption[words] ?? {}
  expect([...new Set(missing)].filter((parameter) => !(parameter in reasons || '*' in reasons))).toEqual([])
  expect(Object.keys(reasons).filter((parameter) => parameter !== '*' && !missing.includes(parameter))).toEqual([])
  const named = Object.values(reasons).flatMap((reason) => [...reason.matchAll(/--([\w-]+)/g)].map(([, option]) => option as string))
  expect(named.filter((option) => !(option in options))).toEqual([])
})

test('the choices of an option are those of the field with its name', () => {
  const different = commands.flatMap(({ words, operations: ids, options = {} }) =>
    operationsOf(ids)
      .flatMap(({ query, body }) =>
        [query, body].flatMap((schema) => Object.entries((schema as { properties?: Fields })?.properties ?? {})),
      )
      .flatMap(([field, schema]) => {
        const [wanted, choices] = [schema.enum ?? schema.items?.enum, options[optionOf(field)]?.choices]
        return wanted && choices && wanted.toSorted().join() !== choices.toSorted().join() ? [`${words} --${optionOf(field)}`] : []
      }),
  )
  expect(different).toEqual([])
})
