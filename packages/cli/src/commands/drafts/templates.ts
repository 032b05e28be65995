// templates list|create|show|edit|publish|render|rm.
import type { Template } from '@callsign/sdk'
import { type Command, type Context, clientIdOption, type Option, readClientId, several, text, type Values } from '../../command.ts'
import { listCommand } from '../../list-command.ts'
import { ago } from '../../terminal/times.ts'
import { UsageError } from '../../usage-error.ts'
import { bodyOptions, readBody } from './mail-body.ts'

const contentOptions: Record<string, Option> = {
  alias: { type: 'string', value: 'ALIAS', about: 'A name by which programs use the template.' },
  from: { type: 'string', value: 'ADDRESS', about: 'The author of its messages.' },
  'reply-to': { type: 'string', multiple: true, value: 'ADDRESS', about: 'An address for replies. Repeatable.' },
  subject: { type: 'string', value: 'TEXT', about: 'The subject.' },
  ...bodyOptions,
  fallback: {
    type: 'string',
    multiple: true,
    value: 'NAME=TEXT',
    about: 'The value of a variable if none is given. Repeatable. Replaces the earlier ones.',
  },
}

async function readContent(context: Context, values: Values) {
  const [alias, from, subject] = [text(values, 'alias'), text(values, 'from'), text(values, 'subject')]
  const [replyTo, fallbacks] = [several(values, 'reply-to'), several(values, 'fallback')]
  return {
    ...(alias !== undefined && { alias }),
    ...(from !== undefined && { from }),
    ...(replyTo.length > 0 && { reply_to: replyTo }),
    ...(subject !== undefined && { subject }),
    ...(await readBody(context, values)),
    ...(fallbacks.length > 0 && {
      variables: readPairs('fallback', fallbacks).map(([key, fallback_value]) => ({ key, type: 'string' as const, fallback_value })),
    }),
  }
}

const readPairs = (option: string, given: string[]): [string, string][] =>
  given.map((one) => {
    const place = one.indexOf('=')
    if (place < 1) throw new UsageError(`--${option} ${one} must be NAME=TEXT.`)
    return [one.slice(0, place), one.slice(place + 1)]
  })

/** The values of `--set`, as numbers for variables of that type. */
function readValues(template: Template, given: string[]): Record<string, string | number> {
  const types = new Map(template.variables.map(({ key, type }) => [key, type]))
  return Object.fromEntries(readPairs('set', given).map(([key, value]) => [key, types.get(key) === 'number' ? Number(value) : value]))
}

const statusOf = ({ status, has_unpublished_changes: isChanged }: Pick<Template, 'status' | 'has_unpublished_changes'>): string =>
  status === 'published' && isChanged ? 'published, changed since' : status

const shown = (one: Template): string =>
  [
    `id         ${one.id}`,
    `name       ${one.name}`,
    `alias      ${one.alias ?? ''}`,
    `status     ${statusOf(one)}`,
    `from       ${one.from ?? ''}`,
    `subject    ${one.subject ?? ''}`,
    `variables  ${one.variables.map(({ key }) => key).join(', ')}`,
    '',
    one.text ?? one.html ?? '',
  ].join('\n')

export const templateCommands: Command[] = [
  listCommand({
    words: 'templates list',
    about: 'Lists templates, newest first.',
    example: 'callsign templates list',
    operations: ['listTemplates'],
    call: (client, query) => client.templates.list(query),
    columns: {
      ID: (one) => one.id,
      ALIAS: (one) => one.alias ?? '',
      STATUS: statusOf,
      CHANGED: (one) => ago(one.updated_at),
      NAME: (one) => one.name,
    },
  }),
  {
    words: 'templates create',
    takes: 'NAME',
    about: 'Creates a template. {{{NAME}}} stands for a variable. Publish it before you use it.',
    example: "callsign templates create 'Order shipped' --alias order-shipped --subject 'Order {{{ID}}}' --text 'It ships on {{{DAY}}}.'",
    operations: ['createTemplate'],
    options: { ...contentOptions, ...clientIdOption },
    async run(context, values, [name = '']) {
      const template = await (await context.client()).templates.create({
        name,
        ...(await readContent(context, values)),
        ...readClientId(values),
      })
      context.output.result(template, () => template.id)
      if (!context.output.isJson) context.output.note(`To use it, run callsign templates publish ${template.alias ?? template.id}`)
      return 0
    },
  },
  {
    words: 'templates show',
    takes: 'TEMPLATE',
    about: 'Shows one template, by its id or alias.',
    example: 'callsign templates show order-shipped',
    operations: ['getTemplate'],
    async run({ client, output }, _values, [name = '']) {
      const template = await (await client()).templates.get(name)
      output.result(template, () => shown(template))
      return 0
    },
  },
  {
    words: 'templates edit',
    takes: 'TEMPLATE',
    about: 'Changes the given fields. The published content stays until you publish again.',
    example: "callsign templates edit order-shipped --text 'It ships tomorrow.'",
    operations: ['updateTemplate'],
    options: { ...contentOptions, name: { type: 'string', value: 'TEXT', about: 'The name in lists.' } },
    async run(context, values, [template = '']) {
      const name = text(values, 'name')
      const change = { ...(name !== undefined && { name }), ...(await readContent(context, values)) }
      if (Object.keys(change).length === 0) throw new UsageError('Nothing to change. Give --subject, --text or another field.')
      const changed = await (await context.client()).templates.update(template, change)
      context.output.result(changed, () => shown(changed))
      return 0
    },
  },
  {
    words: 'templates publish',
    takes: 'TEMPLATE',
    about: 'Makes the present content the one that is used.',
    example: 'callsign templates publish order-shipped',
    operations: ['publishTemplate'],
    async run({ client, output }, _values, [name = '']) {
      const template = await (await client()).templates.publish(name)
      output.result(template, () => `${template.name} is published.`)
      return 0
    },
  },
  {
    words: 'templates render',
    takes: 'TEMPLATE',
    about: 'Prints the published content with the values of its variables.',
    example: 'callsign templates render order-shipped --set ID=1042 --set DAY=Monday',
    operations: ['renderTemplate', 'getTemplate'],
    options: { set: { type: 'string', multiple: true, value: 'NAME=TEXT', about: 'The value of a variable. Repeatable.' } },
    async run({ client, output }, values, [name = '']) {
      const { templates } = await client()
      const variables = readValues(await templates.get(name), several(values, 'set'))
      const rendered = await templates.render(name, { variables })
      output.result(rendered, () => [`Subject: ${rendered.subject ?? ''}`, '', rendered.text ?? rendered.html ?? ''].join('\n'))
      return 0
    },
  },
  {
    words: 'templates rm',
    takes: 'TEMPLATE',
    about: 'Deletes a template.',
    example: 'callsign templates rm order-shipped',
    operations: ['deleteTemplate'],
    async run({ client, output }, _values, [name = '']) {
      const deleted = await (await client()).templates.delete(name)
      output.result(deleted, () => `${name} is deleted.`)
      return 0
    },
  },
]
