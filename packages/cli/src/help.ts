// The help texts, from the command table, for terminals of 80 columns.
import type { Command, Option } from './command.ts'
import { globalOptions } from './command-line.ts'

const width = 80
const leftMax = 30

/** The first words of commands in the order of the help, with their meaning. */
export const topics: Record<string, string> = {
  init: 'Take the first steps: server, key and an agent.',
  open: 'Open the console in your browser.',
  login: 'Store the server and the key on this machine.',
  logout: 'Remove the stored server and key.',
  whoami: 'Show the organization and agent of the key.',
  organization: 'Limits for sending, and the pause of all sending.',
  identities: 'Agents with their mailboxes.',
  addresses: 'The addresses of an agent.',
  mail: 'Send, wait for, read and answer mail.',
  threads: 'Conversations by mail.',
  labels: 'Labels of a mailbox with their colors.',
  drafts: 'Mail that is not sent yet, or waits for approval.',
  approvals: 'Drafts that wait for a person.',
  templates: 'Subject and text of mail, with variables.',
  rules: 'Allowed and blocked senders and recipients.',
  quarantine: 'Mail held back by a rule.',
  suppressions: 'Addresses that get no more mail.',
  domains: 'Your own mail domains and their DNS records.',
  phone: 'Phone numbers and the texts they receive.',
  imessage: 'Conversations over iMessage.',
  tunnel: 'Serve a public address from this machine.',
  tunnels: 'Public addresses and their requests.',
  events: 'The log of events.',
  listen: 'Deliver events to a program on this machine.',
  mcp: 'Serve the tools to an MCP client on this machine.',
  webhooks: 'Deliver events to your servers.',
  vault: 'Secrets that the server cannot read.',
  keys: 'API keys.',
  audit: 'The log of changes to keys, agents and settings.',
  usage: 'Counts of mail per day, and stored bytes.',
  retention: 'Days that mail, events and logged requests are kept.',
  requests: 'The log of API requests.',
  sim: 'Simulated phones, for trying things out.',
  completion: 'Complete commands and options in your shell.',
}

export const topicOf = ({ words }: Command): string => words.split(' ', 1)[0] as string

/** The first sentence. */
export const summaryOf = (about: string): string => /^.*?[.](?= [A-Z]|$)/s.exec(about)?.[0] ?? about

const exitCodes =
  'The exit code is 0 for success, 1 for a failure, 2 for wrong usage, 3 for a rejected key, 4 for not found and 5 for a conflict.'

/** Breaks text into lines of at most 80 columns, indented by `indent`. */
function wrap(text: string, indent: number): string {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string
    if (line !== '' && indent + line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** Two columns. A left side that is too long gets a line of its own, and so does each line break on the right. */
function columns(rows: [string, string][]): string {
  const left = Math.min(leftMax, Math.max(...rows.map(([one]) => one.length)))
  const indent = left + 4
  return rows
    .map(([one, about]) => {
      const start = one.length > left ? `  ${one}\n${' '.repeat(indent)}` : `  ${one.padEnd(left)}  `
      return `${start}${about
        .split('\n')
        .map((line, index) => wrap(line, indent + index * 2))
        .join(`\n${' '.repeat(indent + 2)}`)}`
    })
    .join('\n')
}

/** The command with its arguments, as in `mail read [ID]`. */
export const usageOf = ({ words, takes, passesOn }: Command): string =>
  [words, takes, passesOn && '-- COMMAND ARGUMENT…'].filter(Boolean).join(' ')

export const optionName = (name: string, { value, type }: Option): string => `--${name}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`

const optionLine = ([name, option]: [string, Option]): [string, string] => [optionName(name, option), option.about]

/** The help of one command. */
export function commandHelp(command: Command): string {
  const own = Object.entries(command.options ?? {})
  const options = own.length > 0 ? `\n\nOptions:\n${columns(own.map(optionLine))}` : ''
  return `Usage: ${wrap(`callsign ${usageOf(command)}${own.length > 0 ? ' [OPTIONS]' : ''}`, 7)}

${wrap(command.about, 0)}

Example:
  ${command.example}${options}

Options of every command:
${columns(Object.entries(globalOptions).map(optionLine))}`
}

/** The commands that begin with a word. */
export function topicHelp(topic: string, commands: readonly Command[]): string {
  const own = commands.filter((command) => topicOf(command) === topic)
  return `${topics[topic] ?? ''}

${columns(own.map((command) => [usageOf(command), summaryOf(command.about)]))}

Run ${wrap(`callsign help ${own[0]?.words} for the options and an example of a command.`, 0)}`
}

/** Every first word, with the second ones. */
export function overview(commands: readonly Command[]): string {
  const rows = Object.entries(topics).map(([topic, about]): [string, string] => {
    const actions = commands.filter((command) => topicOf(command) === topic && command.words !== topic)
    const words = actions.map((command) => command.words.slice(topic.length + 1)).join(', ')
    return [topic, words === '' ? about : `${about}\n${words}`]
  })
  return `Usage: callsign COMMAND [ARGUMENTS] [OPTIONS]

Manages communication identities for agents from the command line.

First steps:
  callsign login --url http://localhost:8080
  callsign identities create sales
  callsign mail send --agent sales --to ada@example.com --subject Hi --text Hey
  callsign mail list

Commands:
${columns(rows)}

Run callsign help mail for the sentences of one word, and
callsign help mail send for the options and an example of a command.

Options of every command, before or after the command:
${columns([...Object.entries(globalOptions).map(optionLine), ['--version', 'Print the version.']])}

${wrap(exitCodes, 0)}`
}

/** docs/cli.md: every command with its options and an example. */
export function commandPage(commands: readonly Command[]): string {
  const sections = Object.entries(topics).map(([topic, about]) => {
    const own = commands.filter((command) => topicOf(command) === topic)
    return `## ${topic}\n\n${about}\n\n${own.map(commandSection).join('\n')}`
  })
  return `# Command line

\`callsign\` is the client command. Options may stand before or after the words of a command. This page is printed from the command table in
\`packages/cli/src/\` by \`npm run docs\`.

Options of every command:

${optionTable(globalOptions)}
${exitCodes}

${sections.join('\n')}`
}

const optionTable = (options: Record<string, Option>): string =>
  `| option | meaning |\n|---|---|\n${Object.entries(options)
    .map(([name, option]) => `| \`${optionName(name, option).replaceAll('|', '\\|')}\` | ${option.about.replaceAll('|', '\\|')} |\n`)
    .join('')}`

const commandSection = (command: Command): string => `### callsign ${usageOf(command)}

${command.about}

\`\`\`sh
${command.example}
\`\`\`
${command.options && Object.keys(command.options).length > 0 ? `\n${optionTable(command.options)}` : ''}`
