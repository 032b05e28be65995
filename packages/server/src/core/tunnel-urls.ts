// The addresses of tunnels: the public one, and the one that works where no certificate is set up.

/** The addresses by handle. `local_url` is null where the public one works. */
export type TunnelUrls = (handle: string) => { public_url: string; local_url: string | null }

/**
 * `isSecure` is true where HTTPS is set up for tunnels, here or at a proxy in front. `serverUrl` is called when the server listens, because
 * its port may have been chosen by the system.
 */
export function createTunnelUrls(domain: string, isSecure: boolean, serverUrl: () => string): TunnelUrls {
  return (handle) => {
    const port = URL.parse(serverUrl())?.port ?? ''
    return {
      public_url: `https://${handle}.${domain}`,
      local_url: isSecure ? null : `http://${handle}.${domain}${port === '' ? '' : `:${port}`}/`,
    }
  }
}
