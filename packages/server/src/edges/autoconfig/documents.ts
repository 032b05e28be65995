// Writes the settings of outgoing mail for mail programs, in the forms of Thunderbird and Outlook. Callsign has no IMAP, so none is offered.

/** The host that mail programs sign in to, and its ports. `tls` has TLS from the first byte. Null for a port that is off. */
export type SubmissionServer = { host: string; ports: { tls: number | null; startTls: number | null } }

const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** The best port first, as RFC 8314 §3.3 has it. */
const portsOf = ({ ports: { tls, startTls } }: SubmissionServer): { port: number; isTls: boolean }[] => [
  ...(tls === null ? [] : [{ port: tls, isTls: true }]),
  ...(startTls === null ? [] : [{ port: startTls, isTls: false }]),
]

/** The format of Mozilla's autoconfiguration, version 1.1. The program fills in %EMAILADDRESS%. */
export function thunderbirdXml(domain: string, server: SubmissionServer): string {
  const servers = portsOf(server).map(
    ({ port, isTls }) => `    <outgoingServer type="smtp">
      <hostname>${escapeXml(server.host)}</hostname>
      <port>${port}</port>
      <socketType>${isTls ? 'SSL' : 'STARTTLS'}</socketType>
      <username>%EMAILADDRESS%</username>
      <authentication>password-cleartext</authentication>
    </outgoingServer>`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<clientConfig version="1.1">
  <emailProvider id="${escapeXml(domain)}">
    <domain>${escapeXml(domain)}</domain>
    <displayName>${escapeXml(domain)}</displayName>
    <displayShortName>${escapeXml(domain)}</displayShortName>
${servers.join('\n')}
  </emailProvider>
</clientConfig>
`
}

const outlookResponse = (body: string): string => `<?xml version="1.0" encoding="utf-8"?>
<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/responseschema/2006">
  <Response xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a">
${body}
  </Response>
</Autodiscover>
`

/** The answer of Autodiscover for an address (MS-OXDSCLI). */
export function outlookXml(address: string, server: SubmissionServer): string {
  const protocols = portsOf(server).map(
    ({ port, isTls }) => `      <Protocol>
        <Type>SMTP</Type>
        <Server>${escapeXml(server.host)}</Server>
        <Port>${port}</Port>
        <LoginName>${escapeXml(address)}</LoginName>
        <DomainRequired>off</DomainRequired>
        <SPA>off</SPA>
        <Encryption>${isTls ? 'SSL' : 'TLS'}</Encryption>
        <AuthRequired>on</AuthRequired>
        <UsePOPAuth>off</UsePOPAuth>
      </Protocol>`,
  )
  return outlookResponse(`    <Account>
      <AccountType>email</AccountType>
      <Action>settings</Action>
${protocols.join('\n')}
    </Account>`)
}

/** The answer of Autodiscover without settings: 600 for a request that cannot be read, and 500 for an address that is not here. */
export const outlookErrorXml = (code: 500 | 600): string =>
  outlookResponse(`    <Error>
      <ErrorCode>${code}</ErrorCode>
      <Message>${code === 600 ? 'Invalid Request' : 'The address has no settings here'}</Message>
    </Error>`)
