// The reference of templates.
import type { OperationDetails } from '../operation-details.ts'

const alias = 'order-shipped'
const params = { template: alias }
const content = {
  subject: 'Your order {{{ORDER_ID}}}',
  html: '<p>Dear {{NAME}}, your order ships on {{DAY}}.</p>',
  variables: [{ key: 'NAME', type: 'string', fallback_value: 'customer' }],
}

export const templateDetails: Record<string, OperationDetails> = {
  createTemplate: {
    description:
      'Creates a template. In subject, text and html, `{{{NAME}}}` stands for the value of a variable as it is given, and `{{NAME}}` for the value with HTML escaped. Declare a variable in `variables` to give it a type or a fallback. A variable that is not declared is a required string. Organization keys only.',
    keys: 'organization',
    body: { name: 'Order shipped', alias, ...content },
    reply: { ...content, name: 'Order shipped', alias, status: 'draft', published_at: null, text: null, from: null, reply_to: [] },
    sdk: 'const template = await callsign.templates.create($body)',
    cli: `callsign templates create 'Order shipped' --alias ${alias} --subject 'Your order {{{ORDER_ID}}}' --html-file order.html`,
  },
  listTemplates: {
    description: 'Returns templates, newest first, without their content.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.templates.list($query)',
    cli: 'callsign templates list --limit 20',
  },
  getTemplate: {
    description: 'Returns one template with its content. `has_unpublished_changes` is true if the content differs from the published one.',
    params,
    sdk: 'const template = await callsign.templates.get($template)',
    cli: `callsign templates show ${alias}`,
  },
  updateTemplate: {
    description: 'Changes the given fields. Messages use the change after the next publication. Organization keys only.',
    keys: 'organization',
    params,
    body: { subject: 'Order {{{ORDER_ID}}} has left' },
    reply: { ...content, subject: 'Order {{{ORDER_ID}}} has left', has_unpublished_changes: true },
    sdk: 'const template = await callsign.templates.update($template, $body)',
    cli: `callsign templates edit ${alias} --subject 'Order {{{ORDER_ID}}} has left'`,
  },
  publishTemplate: {
    description: 'Makes the present content the one that is used. Organization keys only.',
    keys: 'organization',
    params,
    sdk: 'await callsign.templates.publish($template)',
    cli: `callsign templates publish ${alias}`,
  },
  renderTemplate: {
    description:
      'Returns the published content with these values. Give the fields to a send, a draft or a batch. A missing or wrong value is a `400 validation_error` with its name, and a template that was never published a `409 conflict`.',
    params,
    body: { variables: { ORDER_ID: '1042', NAME: 'Ada', DAY: 'Monday' } },
    reply: {
      from: null,
      reply_to: [],
      subject: 'Your order 1042',
      text: null,
      html: '<p>Dear Ada, your order ships on Monday.</p>',
    },
    sdk: 'const { subject, html } = await callsign.templates.render($template, $body)',
    cli: `callsign templates render ${alias} --set ORDER_ID=1042 --set NAME=Ada --set DAY=Monday`,
  },
  deleteTemplate: {
    description: 'Deletes a template with its published content. Organization keys only.',
    keys: 'organization',
    params,
    sdk: 'await callsign.templates.delete($template)',
    cli: `callsign templates rm ${alias}`,
  },
}
