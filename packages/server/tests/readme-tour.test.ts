// The README's five-minute tour, run as printed by bash against a fresh server.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDataDir, repository, startCallsignd } from './harness/callsignd.ts'
import { findFreePort } from './harness/peer-process.ts'
import { waitFor } from './harness/wait.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of the API, whose shapes other tests check
type Json = any

/** The shell blocks of one section of the README. */
function readBlocks(heading: string): string[] {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8')
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`README.md has no section "${heading}"`)
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] as string)
}

const marker = '@@@ next block @@@'

/** Runs the blocks in one bash that stops at the first failure. Returns the output of each. */
async function runBlocks(blocks: string[]): Promise<string[]> {
  const script = `set -euo pipefail\n${blocks.join(`\nprintf '%s' '${marker}'\n`)}`
  const bash = spawn('bash', ['-c', script], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let stdout = ''
  let stderr = ''
  bash.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString()
  })
  bash.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes.toString()
  })
  // Background processes keep the pipes open, and after a failure nothing else stops them.
  bash.once('exit', (code) => {
    if (code === 0) return
    try {
      process.kill(-(bash.pid as number), 'SIGKILL')
    } catch {
      // Nothing was left.
    }
  })
  const code = await new Promise((resolve) => bash.once('close', resolve))
  if (code !== 0) throw new Error(`bash ended with ${code}: ${stderr}\nafter printing: ${stdout}`)
  return stdout.split(marker)
}

/** The JSON objects of a text that holds several, with nothing or white space between them. */
function readAnswers(text: string): Json[] {
  const answers: Json[] = []
  let rest = text.trim()
  while (rest !== '') {
    let end = rest.indexOf('}') + 1
    while (end > 0 && !isJson(rest.slice(0, end))) end = rest.indexOf('}', end) + 1
    if (end === 0) throw new Error(`no JSON: ${rest}`)
    answers.push(JSON.parse(rest.slice(0, end)))
    rest = rest.slice(end).trim()
  }
  return answers
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The README waits a second for work in the background. A machine with other work may need longer, so this sleep waits for it too. */
const slowSleep = `sleep() {
  command sleep "$1"
  for i in {1..200}; do
    for list in mail imessage; do curl -s "$BASE/api/v1/$list/messages?limit=100" -H "Authorization: Bearer $KEY"; done | grep -q '"queued"' || return 0
    command sleep 0.1
  done
}
`

test('every command of the tour works as the README describes', async () => {
  const directory = await makeDataDir()
  const server = await startCallsignd({ CALLSIGN_DATA_DIR: directory.path })
  try {
    const url = /^callsign ready (\S+)$/.exec(server.lines.at(-1) as string)?.[1]
    const [exports, ...blocks] = readBlocks('A five-minute tour')
    expect(exports).toBe('export BASE=http://localhost:8080 SMTP=localhost:2525\nexport KEY=svc_live_...\n')
    expect(blocks).toHaveLength(9)
    const ours = `export BASE=${url} SMTP=localhost:${server.smtpPort}\nexport KEY=${server.key}\n${slowSleep}`
    // Something else may have port 3000 of this machine.
    const port = String(await findFreePort())
    const printed = await runBlocks([ours, ...blocks].map((block) => block.replaceAll(/\b3000\b/g, port)))
    const tunnel = printed.pop()
    const [, me, agents, delivery, answer, between, phone, imessage, agentKey] = printed.map(readAnswers) as Json[][]

    expect(me).toMatchObject([{ role: 'owner', key: { type: 'organization', agent_handle: null } }])
    expect(agents).toMatchObject([{ agent_handle: 'sales' }, { agent_handle: 'support' }])
    expect(JSON.stringify(agents)).toContain('sales@agents.localhost')
    expect(delivery).toEqual([])

    const [inbox, reply] = answer as Json[]
    expect(inbox).toMatchObject({ total: 1, messages: [{ subject: 'A question', direction: 'inbound' }] })
    expect(JSON.stringify(inbox)).toContain('ada@example.com')
    expect(reply.thread_id).toBe(inbox.messages[0].thread_id)
    const sales = { authorization: `Bearer ${server.key}` }
    const ask = async (path: string, headers: Record<string, string>): Promise<Json> => (await fetch(`${url}${path}`, { headers })).json()
    const raw = await fetch(`${url}/api/v1/mailboxes/sales/messages/${reply.id}/raw`, { headers: sales })
    expect(await raw.text()).toMatch(/^In-Reply-To: <1@example\.com>\r$/m)
    const recorded = await ask(`/api/v1/mailboxes/sales/messages/${reply.id}`, sales)
    expect(recorded).toMatchObject({ status: 'sent', to: ['ada@example.com'], text: expect.stringContaining('We do, within a week.') })

    const [sent, arrived, found] = between as Json[]
    expect(sent).toMatchObject({ status: 'queued' })
    expect(arrived.data).toMatchObject([{ subject: 'Shipping to Norway', direction: 'inbound', is_read: false }])
    expect(JSON.stringify(found)).toContain('<mark>Norway</mark>')

    const [text, texts] = phone as Json[]
    expect(text).toMatchObject({ status: 'received' })
    expect(texts.data).toMatchObject([
      {
        id: text.message_id,
        agent_handle: 'sales',
        from_number: '+16502530000',
        text: 'Your code is 492816',
        type: 'sms',
        codes: [{ kind: 'one_time_code', value: '492816' }],
      },
    ])

    const [router, filed, answered, talk, outbox] = imessage as Json[]
    expect(router).toMatchObject({ connect_prompt: 'connect @sales', qr_code: expect.stringMatching(/^data:image\/png;base64,/) })
    expect(filed).toMatchObject({ effect: 'filed', message_id: expect.stringMatching(/^imsg_/) })
    expect(answered).toMatchObject({ conversation_id: filed.conversation_id, direction: 'outbound', status: 'queued' })
    expect(talk.messages).toMatchObject([
      { direction: 'inbound', sender: '+14155550123', text: 'Is my parcel on its way?' },
      { direction: 'outbound', sender: 'sales', text: 'It is, and arrives on Friday.', status: 'sent' },
    ])
    expect(outbox.data.map((item: Json) => item.text)).toEqual([
      'It is, and arrives on Friday.',
      expect.stringContaining('connected to Sales Agent'),
    ])

    const [made] = agentKey as Json[]
    expect(made).toMatchObject({ type: 'agent', agent_handle: 'sales', key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{65}$/) })
    const agent = { authorization: `Bearer ${made.key}` }
    expect(await ask('/api/v1/me', agent)).toMatchObject({ role: 'agent', key: { agent_handle: 'sales' } })
    expect(await ask('/api/v1/mail/messages', agent)).toMatchObject({ total: 3 })
    expect(await ask('/api/v1/mail/messages?agent=support', agent)).toMatchObject({ error: { code: 'forbidden' } })

    expect(tunnel).toContain(`Hello from port ${port}\n`)
    expect(tunnel).toMatch(/GET +200 /)
    await waitFor('the request to be noted', async () => (await ask('/api/v1/tunnels/sales', sales)).last_request_at !== null)

    expect((await fetch(`${url}/docs`)).status).toBe(200)
    expect(await ask('/openapi.json', {})).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
  } finally {
    await server.stop()
    await directory.remove()
  }
})
