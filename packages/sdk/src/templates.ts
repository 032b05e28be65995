// Templates of messages, with variables. `template` is an id or an alias everywhere.
import type { BodyOf, QueryOf, ReplyOf } from '@callsign/contract/operation'
import type * as contract from '@callsign/contract/templates'
import { type Connection, path, type RequestOptions } from './request.ts'

export type Template = ReplyOf<typeof contract.getTemplate>
export type TemplatePage = ReplyOf<typeof contract.listTemplates>
export type RenderedTemplate = ReplyOf<typeof contract.renderTemplate>

export class Templates {
  readonly #connection: Connection
  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Creates a template as a draft. {{{NAME}}} in subject, text and html stands for a variable. */
  create(body: BodyOf<typeof contract.createTemplate>, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'POST', path: '/templates', body, isKeyed: true, options })
  }

  list(query?: QueryOf<typeof contract.listTemplates>, options?: RequestOptions): Promise<TemplatePage> {
    return this.#connection.request({ method: 'GET', path: '/templates', query, options })
  }

  get(template: string, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'GET', path: path`/templates/${template}`, options })
  }

  /** null clears a field, and omitted fields stay. The published content stays until `publish`. */
  update(template: string, body: BodyOf<typeof contract.updateTemplate>, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'PATCH', path: path`/templates/${template}`, body, options })
  }

  /** Makes the present content the one that is used. */
  publish(template: string, options?: RequestOptions): Promise<Template> {
    return this.#connection.request({ method: 'POST', path: path`/templates/${template}/publish`, isKeyed: true, options })
  }

  /** The published content with these values, as the fields of a message. */
  render(
    template: string,
    body: NonNullable<BodyOf<typeof contract.renderTemplate>> = {},
    options?: RequestOptions,
  ): Promise<RenderedTemplate> {
    return this.#connection.request({ method: 'POST', path: path`/templates/${template}/render`, body, options })
  }

  delete(template: string, options?: RequestOptions): Promise<ReplyOf<typeof contract.deleteTemplate>> {
    return this.#connection.request({ method: 'DELETE', path: path`/templates/${template}`, options })
  }
}
