// Answers mail programs that look for the settings of outgoing mail, without a key. The settings are the same for every address.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toDomainName } from '../../core/domain-name.ts'
import type { ApiError } from '../../core/errors.ts'
import { outlookErrorXml, outlookXml, type SubmissionServer, thunderbirdXml } from './documents.ts'

export type AutoconfigOptions = {
  server: SubmissionServer
  /** True for a domain whose addresses are on this server. */
  hasDomain(domain: string): Promise<boolean>
  admitBody(request: FastifyRequest, reply: FastifyReply, bytesMax: number, isRaw?: boolean): ApiError | undefined
}

/** Mozilla's two addresses, at autoconfig.DOMAIN and at DOMAIN itself. */
export const thunderbirdPaths = ['/mail/config-v1.1.xml', '/.well-known/autoconfig/mail/config-v1.1.xml']
/** Programs write the address of Autodiscover in both ways. */
export const outlookPaths = ['/autodiscover/autodiscover.xml', '/Autodiscover/Autodiscover.xml']

/** A request of Outlook has some hundred bytes. */
const bodyBytesMax = 8 * 1024
const addressPattern = /<EMailAddress>\s*([^<>&\s]{1,64}@[^<>&\s]{1,253})\s*<\/EMailAddress>/i

const domainOf = (address: string): string | null => toDomainName(address.slice(address.lastIndexOf('@') + 1).toLowerCase())

export function mountAutoconfig(app: FastifyInstance, { server, hasDomain, admitBody }: AutoconfigOptions): void {
  const send = (reply: FastifyReply, status: number, xml: string) => reply.code(status).type('text/xml; charset=utf-8').send(xml)

  async function findDomain(domain: string | null): Promise<string | null> {
    return domain !== null && (await hasDomain(domain)) ? domain : null
  }

  for (const path of thunderbirdPaths)
    app.get(path, async (request, reply) => {
      request.pattern = path
      const { emailaddress } = request.query as { emailaddress?: unknown }
      const host = (request.headers.host ?? '').toLowerCase().replace(/:\d+$/, '')
      const asked = typeof emailaddress === 'string' && emailaddress.includes('@') ? domainOf(emailaddress) : null
      const domain = await findDomain(asked ?? toDomainName(host.replace(/^autoconfig\./, '')))
      return domain === null
        ? reply.code(404).type('text/plain').send('No settings for this domain.\n')
        : send(reply, 200, thunderbirdXml(domain, server))
    })

  for (const path of outlookPaths)
    app.route({
      method: 'POST',
      url: path,
      onRequest: async (request, reply) => {
        request.pattern = path
        const refused = admitBody(request, reply, bodyBytesMax, true)
        if (refused) throw refused
      },
      handler: async (request, reply) => {
        const address = addressPattern.exec(String(request.body ?? ''))?.[1]
        if (address === undefined) return send(reply, 200, outlookErrorXml(600))
        const domain = await findDomain(domainOf(address))
        return send(reply, 200, domain === null ? outlookErrorXml(500) : outlookXml(address, server))
      },
    })
}
