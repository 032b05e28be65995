// imessage router|send|history|conversations|disconnect, and sim imessage, which simulates a phone.
import type { ImessageHistory } from '@callsign/sdk'
import { type Command, needed, several, text } from '../../command.ts'
import { listCommand, listOptions, oldestOption, orderOf } from '../../list-command.ts'
import { readBytes } from '../../session/files.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'

const statuses = ['active', 'archived'] as const

export const imessageCommands: Command[] = [
  {
    words: 'imessage router',
    takes: '[HANDLE]',
    about: 'Shows the instructions for connecting to an agent. With an agent key, defaults to its own agent.',
    example: 'callsign imessage router sales',
    operations: ['getImessageRouter'],
    options: { phone: { type: 'string', value: 'NUMBER', about: "The user's number, such as +14155550123." } },
    async run({ client, output }, values, [handle]) {
      const phone = text(values, 'phone')
      const router = await (await client()).imessage.router({
        ...(handle !== undefined && { agent: handle }),
        ...(phone !== undefined && { phone }),
      })
      output.result(
        router,
        () => `Text "${router.connect_prompt}" to ${router.phone_number} (${router.display_name}, ${router.provider}).\n${router.url}`,
      )
      return 0
    },
  },
  {
    words: 'imessage send',
    takes: 'TEXT',
    about: 'Sends a message into a conversation, or to a number that is connected.',
    example: "callsign imessage send 'On my way' --to +14155550123",
    operations: ['sendImessage'],
    options: {
      conversation: { type: 'string', value: 'ID', about: 'The conversation.' },
      to: { type: 'string', value: 'NUMBER', about: 'The number of a connected person, instead of --conversation.' },
      agent: { type: 'string', value: 'HANDLE', about: 'The sending agent, if the number is connected to several agents.' },
      media: { type: 'string', value: 'URL', about: 'A PNG, JPEG, GIF or PDF to send along.' },
      'idempotency-key': {
        type: 'string',
        value: 'KEY',
        about: 'A key that makes the request safe to repeat. The message is sent once per key.',
      },
    },
    async run({ client, output }, values, [words = '']) {
      const [conversation, to, agent, media, idempotencyKey] = ['conversation', 'to', 'agent', 'media', 'idempotency-key'].map((name) =>
        text(values, name),
      )
      if (conversation === undefined && to === undefined) throw new UsageError('--conversation or --to is required.')
      const body = {
        text: words,
        ...(conversation !== undefined && { conversation_id: conversation }),
        ...(to !== undefined && { to }),
        ...(agent !== undefined && { identity_id: agent }),
        ...(media !== undefined && { media_url: media }),
      }
      const sent = await (await client()).imessage.send(body, idempotencyKey === undefined ? {} : { idempotencyKey })
      output.result(sent, () => `${sent.id} is ${sent.status}.`)
      return 0
    },
  },
  listCommand({
    words: 'imessage history',
    takes: '[CONVERSATION]',
    about: 'Lists messages of one conversation or of all, newest first.',
    example: 'callsign imessage history conv_01jq8',
    operations: ['listImessages'],
    options: { ...oldestOption, ...listOptions },
    call: (client, query, [conversation], values) =>
      client.imessage.history({ ...(conversation !== undefined && { conversation_id: conversation }), ...query, ...orderOf(values) }),
    items: ({ messages }: ImessageHistory) => messages,
    columns: {
      TIME: (one) => ago(one.created_at),
      FROM: (one) => one.sender,
      STATUS: (one) => one.status,
      TEXT: (one) => (one.media.length > 0 ? `${one.text} [${one.media.length} file]` : one.text),
    },
  }),
  listCommand({
    words: 'imessage conversations',
    about: 'Lists conversations, newest first.',
    example: 'callsign imessage conversations --agent sales',
    operations: ['listImessageConversations'],
    options: {
      agent: { type: 'string', value: 'HANDLE', field: 'agent', about: 'Only conversations of this agent.' },
      status: { type: 'string', value: 'STATUS', field: 'status', choices: statuses, about: 'Only active or archived conversations.' },
      ...listOptions,
    },
    call: (client, query) => client.imessage.conversations(query),
    columns: {
      ID: (one) => one.id,
      AGENT: (one) => one.agent_handle,
      WITH: (one) => one.recipient,
      STATUS: (one) => one.status,
      PROVIDER: (one) => one.provider,
    },
  }),
  {
    words: 'imessage disconnect',
    takes: 'CONVERSATION',
    about: 'Ends a conversation.',
    example: 'callsign imessage disconnect conv_01jq8',
    operations: ['disconnectImessageConversation'],
    async run({ client, output }, _values, [id = '']) {
      const done = await (await client()).imessage.disconnect(id)
      output.result(done, () => `${done.id} with ${done.recipient} is ${done.status}.`)
      return 0
    },
  },
  {
    words: 'sim imessage',
    takes: '[TEXT]',
    about: 'Sends a message to the router line as an external phone. Start with "connect @HANDLE".',
    example: "callsign sim imessage 'connect @sales' --from +14155550123",
    operations: ['simulateImessage'],
    options: {
      from: { type: 'string', value: 'NUMBER', about: 'The sender, such as +14155550123.' },
      media: { type: 'string', multiple: true, value: 'FILE', about: 'A file to attach. Repeatable.' },
    },
    async run({ client, output }, values, [words]) {
      const from = needed(values, 'from')
      const media = await Promise.all(several(values, 'media').map(readContent))
      const body = { from, ...(words !== undefined && { text: words }), ...(media.length > 0 && { media }) }
      const sent = await (await client()).simulator.imessage(body)
      const where = sent.conversation_id ? ` (${sent.conversation_id})` : ''
      output.result(sent, () => `The message is ${sent.effect}${sent.message_id ? ` as ${sent.message_id}` : ''}${where}.`)
      return 0
    },
  },
]

const readContent = async (path: string): Promise<{ content: string }> => ({ content: (await readBytes(path)).toString('base64') })
