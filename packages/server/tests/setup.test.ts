// callsignd setup, non-interactive and on a terminal, and the settings file that it writes.
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig, loadKnownConfig, readSettingsFile, settingLine } from '../src/config/file.ts'
import { takeConfigOption } from '../src/host/config-option.ts'
import { CommandFailed } from '../src/host/failure.ts'
import { runSetup } from '../src/host/setup.ts'
import { callsignd, makeDataDir } from './harness/callsignd.ts'
import { hasScript, skipReason, Terminal } from './harness/terminal.ts'

let folder: string
let remove: () => Promise<void>
beforeEach(async () => {
  printed.length = 0
  ;({ path: folder, remove } = await makeDataDir())
})
afterEach(() => remove())

/** Runs setup in this process, which takes no time to start. `printed` has its lines. */
const setUp = (...args: string[]) => runSetup(args, (line) => void printed.push(line))
const printed: string[] = []
/** Runs callsignd in the folder. */
const run = (...args: string[]) => callsignd(args, {}, { cwd: folder })

test('flags make one file for its owner, which the next start reads, and which is not replaced unasked', async () => {
  const made = await run(
    'setup',
    '--domain',
    'agents.example.com',
    '--certificates',
    'proxy',
    '--delivery',
    'relay',
    '--relay-url',
    'smtp://u:p$1@relay.example:587',
  )
  expect([made.code, made.stderr]).toEqual([0, ''])
  for (const line of [
    '  agents.example.com.  MX  10 agents.example.com.',
    '  agents.example.com.  TXT  "v=spf1 mx ~all"',
    '  *.tunnel.agents.example.com.  A  the public address of this server    (tunnels)',
    '  _smtp._tls.agents.example.com.  TXT  "v=TLSRPTv1; rua=mailto:tls-reports@agents.example.com"',
    '  2. Create the database with the DKIM keys, and publish the records that this prints: npx --no callsignd dkim',
    '  3. Start the server: npx --no callsignd',
  ])
    expect(made.stdout).toContain(`${line}\n`)
  // The DNS of this test does not answer, which doctor reports.
  expect(made.stdout).toContain('ATTENTION DNS does not answer for agents.example.com')
  const file = join(folder, 'callsign.env')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder)).toEqual(['callsign.env'])
  const config = await run('config')
  expect(config.stdout).toContain('CALLSIGN_MAIL_DOMAIN=agents.example.com\n')
  expect(config.stdout).toContain(`CALLSIGN_DATA_DIR=${join(folder, 'data')}\n`)
  expect(config.stdout).toContain('CALLSIGN_SMTP_RELAY_URL=(set)\n')
  // Before the first start.
  const keys = await run('dkim')
  expect(keys.stdout).toMatch(/^(\w+\._domainkey\.agents\.example\.com\. IN TXT "v=DKIM1; .*\n){2}$/)

  const other = ['--domain', 'other.example.com', '--certificates', 'proxy', '--no-check', '--output', file]
  await expect(setUp(...other)).rejects.toThrow(`${file} exists and was not changed: name another file with --output, or give --force`)
  expect(await readFile(file, 'utf8')).toContain('agents.example.com')
  expect(await setUp(...other, '--force')).toBe(0)
  expect(await readFile(file, 'utf8')).toContain('CALLSIGN_MAIL_DOMAIN=other.example.com\n')
})

test('a file of answers, another output, and the sentence for a wrong or missing answer', async () => {
  const answers = join(folder, 'answers')
  await writeFile(answers, '# ours\ndomain=agents.example.com\nacme-email=ops@example.com\nsubmission=on\nsmtp-port=2525\n')
  const ours = join(folder, 'ours.env')
  expect(await setUp('--answers', answers, '--output', ours, '--no-check')).toBe(0)
  expect(printed.join('\n')).toContain(`npx --no callsignd --config ${ours} dkim`)
  expect(await readFile(ours, 'utf8')).toContain('CALLSIGN_SMTP_PORT=2525\nCALLSIGN_SUBMISSION_PORT=587\nCALLSIGN_SUBMISSIONS_PORT=465\n')
  expect(await readFile(ours, 'utf8')).toContain(
    'CALLSIGN_HTTPS_PORT=443\nCALLSIGN_HTTP_REDIRECT=on\nCALLSIGN_ACME_DIRECTORY=letsencrypt\nCALLSIGN_ACME_EMAIL=ops@example.com\n',
  )
  expect(loadConfig(ours, {}).smtpPort).toBe(2525)

  await writeFile(answers, 'domain=a.example\ncolour=red\n')
  await expect(setUp('--answers', answers)).rejects.toThrow(`${answers}, line 2: answers are domain, `)
  await expect(setUp('--answers', join(folder, 'none'))).rejects.toThrow('none does not exist')
  for (const [args, sentence] of [
    [[], '--domain is needed: Domain of the mailboxes'],
    [['--domain', 'Not One'], '--domain must be a lowercase domain name, not "Not One"'],
    [
      ['--domain', 'a.example', '--certificates', 'proxy', '--delivery', 'pigeon'],
      '--delivery must be one of: direct, relay, simulator, not "pigeon"',
    ],
    [
      ['--domain', 'a.example', '--certificates', 'files', '--cert-file', '/nowhere'],
      '--cert-file must name a file that exists, not "/nowhere"',
    ],
    [
      ['--domain', 'a.example', '--certificates', 'proxy', '--postmaster', 'Post Master'],
      '--postmaster must be a handle of a-z, 0-9 and _',
    ],
    [['--colour'], "Unknown option '--colour'"],
  ] as const) {
    const error = await setUp(...args, '--output', join(folder, 'x.env')).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CommandFailed)
    expect([(error as CommandFailed).isUsage, (error as Error).message]).toEqual([true, expect.stringContaining(sentence)])
  }
  expect((await readdir(folder)).toSorted()).toEqual(['answers', 'ours.env'])
})

test.skipIf(!hasScript)(
  `on a terminal it asks, repeats a question after a wrong answer, and asks before it replaces a file${skipReason}`,
  async () => {
    await writeFile(join(folder, 'callsign.env'), 'CALLSIGN_PORT=81\n')
    const terminal = new Terminal('setup --no-check', {}, folder)
    try {
      const answer = async (question: string, text: string) => {
        await terminal.until(question)
        terminal.type(`${text}\r`)
      }
      await answer('Domain of the mailboxes, such as agents.example.com: ', 'nonsense')
      await terminal.until('The answer must have a dot, as in agents.example.com.')
      terminal.type('agents.example.com\r')
      await answer('stands in front) [acme]: ', 'proxy')
      await answer('[https://agents.example.com]: ', 'https://api.example.com')
      await answer('[tunnel.agents.example.com]: ', '')
      await answer('[direct]: ', 'simulator')
      await answer('[0.0.0.0]: ', '127.0.0.1')
      await answer('Port for HTTP [8080]: ', '')
      await answer('[25]: ', '2525')
      await answer('[postmaster_agent]: ', 'ops')
      await answer('[off]: ', '')
      await answer('[./data]: ', '')
      await answer('callsign.env exists. Replace it? yes or no [no]: ', 'yes')
      expect(await terminal.until('4. Check everything')).toContain(
        'api.example.com.  A  the public address of this server    (API and console)',
      )
      expect(await terminal.ended).toBe(0)
    } finally {
      await terminal.close()
    }
    expect(await readFile(join(folder, 'callsign.env'), 'utf8')).toBe(
      [
        '# Settings of callsignd. docs/configuration.md lists all of them.',
        'CALLSIGN_MAIL_DOMAIN=agents.example.com',
        'CALLSIGN_PUBLIC_URL=https://api.example.com',
        'CALLSIGN_TUNNEL_DOMAIN=tunnel.agents.example.com',
        `CALLSIGN_DATA_DIR=${join(folder, 'data')}`,
        'CALLSIGN_HOST=127.0.0.1',
        'CALLSIGN_PORT=8080',
        'CALLSIGN_SMTP_PORT=2525',
        'CALLSIGN_POSTMASTER=ops',
        'CALLSIGN_MAIL_TRANSPORT=simulator',
        '',
      ].join('\n'),
    )
  },
)

test('the file is read from the data directory, the environment wins, and values may be in quotes', async () => {
  const data = join(folder, 'data')
  await mkdir(data)
  await writeFile(join(data, 'callsign.env'), '# a comment\n\nCALLSIGN_PORT=81\nCALLSIGN_MAIL_DOMAIN=\'a.example\'\nAWS_REGION="eu-1"\n')
  const config = loadConfig(null, { CALLSIGN_DATA_DIR: data, CALLSIGN_PORT: '82' })
  expect([config.port, config.mailDomain, config.dataDir]).toEqual([82, 'a.example', data])
  expect(settingLine('CALLSIGN_SMTP_RELAY_URL', 'smtp://u:$x@h')).toBe("CALLSIGN_SMTP_RELAY_URL='smtp://u:$x@h'")
  expect(() => settingLine('A', "it's")).toThrow('A must not have line ends or single quotes')
})

test.each([
  ['CALLSIGN_PORT=1\nCALLSIGN_PROT=80\n', 2, 'CALLSIGN_PROT is not a setting of callsignd: correct the name by docs/configuration.md'],
  ['\nCALLSIGN_PORT=eighty\n', 2, 'CALLSIGN_PORT must be a whole number from 0 to 65535, not "eighty"'],
  ['CALLSIGN_DATABASE_URL=mysql://u:hush@h\n', 1, 'CALLSIGN_DATABASE_URL must be a URL starting with postgres:// or postgresql://'],
  ['PATH=/bin\n', 1, 'PATH is not a setting of callsignd: correct the name by docs/configuration.md'],
  ['CALLSIGN_PORT 80\n', 1, 'a line is NAME=value, or a comment that begins with #'],
  ['CALLSIGN_PORT=1\nCALLSIGN_PORT=2\n', 2, 'CALLSIGN_PORT is set twice: remove one'],
])('a bad line of the file is named: %j', async (text, line, sentence) => {
  const path = join(folder, 'bad.env')
  await writeFile(path, text)
  expect(() => readSettingsFile(path)).toThrow(`${path}, line ${line}: ${sentence}`)
})

test('--config stands before or after the command, and stops the start when its file does not exist or has no name', async () => {
  expect(await run('--config', 'none.env', 'config')).toMatchObject({
    code: 1,
    stderr: `callsignd: the settings file ${join(folder, 'none.env')} cannot be read (ENOENT): name another with --config\n`,
  })
  expect(takeConfigOption(['--config', 'a.env', 'doctor', '--json'])).toEqual({ file: 'a.env', words: ['doctor', '--json'] })
  expect(takeConfigOption(['doctor', '--config=a.env', '--json'])).toEqual({ file: 'a.env', words: ['doctor', '--json'] })
  expect(takeConfigOption(['doctor'])).toEqual({ file: null, words: ['doctor'] })
  for (const words of [
    ['config', '--config'],
    ['--config=', 'config'],
  ])
    expect(() => takeConfigOption(words)).toThrow(expect.objectContaining({ isUsage: true, message: '--config needs the name of a file' }))
})

test('the check before an upgrade reads a file with unknown settings, and names them', async () => {
  const path = join(folder, 'callsign.env')
  await writeFile(path, 'CALLSIGN_PROT=80\nCALLSIGN_SMTP_PORT=2526\n')
  const { config, unknown } = loadKnownConfig(path, { CALLSIGN_POTR: '1' })
  expect([config.smtpPort, unknown.map(({ name }) => name)]).toEqual([2526, ['CALLSIGN_PROT', 'CALLSIGN_POTR']])
  expect(() => loadConfig(path, {})).toThrow('line 1: CALLSIGN_PROT is not a setting')
})
