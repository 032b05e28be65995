// Settings of custom mail domains.
import { area, setting } from './setting.ts'
import { decimal, oneOf, url } from './values.ts'

export const domains = area({
  title: 'Custom domains',
  settings: {
    domainProvider: setting({
      name: 'CALLSIGN_DOMAIN_PROVIDER',
      fallback: 'builtin',
      sentence: 'Provider of custom domains for requests that name none. `builtin` is this server, `resend` needs CALLSIGN_RESEND_API_KEY.',
      read: oneOf('builtin', 'resend'),
    }),
    domainRecheckSeconds: setting({
      name: 'CALLSIGN_DOMAIN_RECHECK_SECONDS',
      fallback: '21600',
      shown: '21600 (6 hours)',
      sentence: 'Seconds between checks of a verified custom domain. The domain fails after 72 hours of wrong records.',
      read: decimal(0.05, 604_800),
    }),
    resendApiKey: setting({
      name: 'CALLSIGN_RESEND_API_KEY',
      fallback: null,
      sentence: 'Key of a Resend account, with full access. It enables the domain provider `resend`.',
      secret: true,
      read: (text) => {
        if (!/^[!-~]{8,200}$/.test(text)) throw new Error('must be a key such as re_…')
        return text
      },
    }),
    resendUrl: setting({
      name: 'CALLSIGN_RESEND_URL',
      fallback: 'https://api.resend.com',
      sentence: 'Address of the Resend API.',
      read: url('http:', 'https:'),
    }),
  },
  check({ domainProvider, resendApiKey }) {
    if (domainProvider === 'resend' && resendApiKey === null) return 'CALLSIGN_DOMAIN_PROVIDER=resend needs CALLSIGN_RESEND_API_KEY'
    return null
  },
})
