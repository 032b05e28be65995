// Metadata of the MCP endpoint as a protected resource (RFC 9728), and of this server as its authorization server (RFC 8414).
import { agentScopes } from '@callsign/contract/scopes'
import { ApiError } from '../../core/errors.ts'

export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  /** Below the path of the console's cookie. */
  consent: '/console/connect',
} as const

const resourcePath = '/mcp'

export const wellKnownPaths = {
  resource: '/.well-known/oauth-protected-resource',
  /** The form for a resource with a path (RFC 9728 §3.1). */
  resourceAtPath: `/.well-known/oauth-protected-resource${resourcePath}`,
  server: '/.well-known/oauth-authorization-server',
} as const

/** The resource that tokens are for: the MCP endpoint. */
export const resourceOf = (publicUrl: string): string => `${publicUrl}${resourcePath}`

/** True where OAuth may be offered: over https, or on this machine (RFC 6749 §3.1.2.1, RFC 8252 §8.3). */
function isOffered(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

/** Throws 404 where OAuth is not offered. */
export function checkOffered(publicUrl: string): void {
  if (!isOffered(publicUrl))
    throw new ApiError('not_found', 'OAuth needs https. Set CALLSIGN_PUBLIC_URL to an https:// address, or use an API key.')
}

export const resourceMetadata = (publicUrl: string) => ({
  resource: resourceOf(publicUrl),
  resource_name: 'Callsign',
  authorization_servers: [publicUrl],
  bearer_methods_supported: ['header'],
  scopes_supported: [...agentScopes],
  resource_documentation: `${publicUrl}/docs`,
})

export const serverMetadata = (publicUrl: string) => ({
  issuer: publicUrl,
  authorization_endpoint: `${publicUrl}${oauthPaths.authorize}`,
  token_endpoint: `${publicUrl}${oauthPaths.token}`,
  registration_endpoint: `${publicUrl}${oauthPaths.register}`,
  revocation_endpoint: `${publicUrl}${oauthPaths.revoke}`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  scopes_supported: [...agentScopes],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  service_documentation: `${publicUrl}/docs`,
})

/** The value of WWW-Authenticate that leads a client to the metadata (RFC 9728 §5.1). */
export const challengeOf = (publicUrl: string, hasToken: boolean): string =>
  isOffered(publicUrl)
    ? `Bearer ${hasToken ? 'error="invalid_token", ' : ''}resource_metadata="${publicUrl}${wellKnownPaths.resourceAtPath}"`
    : 'Bearer'
