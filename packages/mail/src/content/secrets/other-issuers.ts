// More forms of API keys, of issuers whose keys have a fixed prefix. Each pattern takes linear time.
import { type IssuerRule, isMixed, apiKey as key } from './secret.ts'

/** A key that consists of a prefix and characters. */
const prefixed = (name: string, prefix: string, rest: string, check?: IssuerRule['check']): IssuerRule =>
  key(name, prefix, new RegExp(`(?<![A-Za-z0-9_.-])${prefix.replaceAll('.', '\\.')}${rest}(?![A-Za-z0-9])`, 'g'), check)

/** True if the last part of the token of a Discord bot, a signature, has the mixture of random characters. */
const isDiscordSignature = (token: string): boolean => {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return /\d/.test(signature) && /[a-z]/.test(signature) && /[A-Z]/.test(signature)
}

export const otherIssuers: readonly IssuerRule[] = [
  prefixed('1Password token', 'ops_eyJ', '[A-Za-z0-9+/]{250,2000}={0,3}'),
  prefixed('1Password secret key', 'A3-', '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}', isMixed),
  prefixed('Adobe client secret', 'p8e-', '[A-Za-z0-9]{32}', isMixed),
  prefixed('Airtable token', 'pat', '[A-Za-z0-9]{14}\\.[a-f0-9]{64}'),
  prefixed('Alibaba Cloud key', 'LTAI', '[A-Za-z0-9]{20}', isMixed),
  prefixed('Artifactory key', 'AKCp', '[A-Za-z0-9]{69}'),
  prefixed('Artifactory token', 'cmVmd', '[A-Za-z0-9]{59}'),
  prefixed('Atlassian token', 'ATATT3', '[A-Za-z0-9_=-]{186}'),
  key(
    'Azure client secret',
    'Q~',
    /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])/g,
    (text) => /[A-Z]/.test(text) && /[a-z]/.test(text),
  ),
  prefixed('Brevo key', 'xkeysib-', '[a-f0-9]{64}-[A-Za-z0-9]{16}'),
  prefixed('ClickHouse key', '4b1d', '[A-Za-z0-9]{38}', (text) => /[A-Z]/.test(text) && /[g-z]/.test(text)),
  prefixed('Clojars token', 'CLOJARS_', '[A-Za-z0-9]{60}'),
  prefixed('Cloudflare key', 'v1.0-', '[a-f0-9]{24}-[a-f0-9]{146}'),
  key('Discord token', '.', /(?<![\w.-])[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])/g, isDiscordSignature),
  prefixed('Defined Networking token', 'dnkey-', '[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}'),
  prefixed('Doppler token', 'dp.', '(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{2,35}\\.)?[A-Za-z0-9]{40,44}'),
  prefixed('Duffel token', 'duffel_', '(?:test|live)_[A-Za-z0-9_=-]{43}'),
  prefixed('Dynatrace token', 'dt0', '[a-z]\\d{2}\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}'),
  prefixed('EasyPost key', 'EZ', '[AT]K[A-Za-z0-9]{54}'),
  prefixed('Facebook token', 'EAA', '[A-Z][A-Za-z0-9]{100,500}', isMixed),
  key('Facebook app token', '|', /(?<!\d)\d{15,16}\|[\w-]{27,40}(?![\w-])/g, (text) => /[a-z]/i.test(text.slice(17))),
  prefixed('Flutterwave key', 'FLWSECK', '(?:_TEST)?-[a-f0-9]{32}-X'),
  prefixed('Fly.io token', 'fo1_', '[A-Za-z0-9_-]{43}'),
  prefixed('Fly.io token', 'fm', '(?:1[ar]|2)_[A-Za-z0-9+/]{100,2000}={0,3}'),
  prefixed('Frame.io token', 'fio-u-', '[A-Za-z0-9_=-]{64}'),
  prefixed('Grafana key', 'eyJrIjoi', '[A-Za-z0-9]{70,400}={0,3}'),
  prefixed('Grafana token', 'glc_', '[A-Za-z0-9+/]{32,400}={0,3}', isMixed),
  prefixed('Grafana token', 'glsa_', '[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}'),
  key('Harness token', ['pat.', 'sat.'], /(?<![\w.-])[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9])/g),
  key('HashiCorp Terraform token', '.atlasv1.', /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}/g),
  prefixed('Heroku key', 'HRKU-AA', '[A-Za-z0-9_-]{58}'),
  prefixed('Infracost key', 'ico-', '[A-Za-z0-9]{32}', (text) => isMixed(text) && /[g-z]/i.test(text.slice(4))),
  prefixed('Linear key', 'lin_', '(?:api|oauth)_[A-Za-z0-9]{40,64}'),
  key('Mailchimp key', '-us', /(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])/g),
  key('MaxMind key', '_mmk', /(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])/g),
  prefixed('New Relic key', 'NRAK-', '[A-Za-z0-9]{27}'),
  prefixed('Notion token', 'ntn_', '[0-9]{11}[A-Za-z0-9]{35}'),
  prefixed('Octopus Deploy key', 'API-', '[A-Z0-9]{26}', (text) => isMixed(text.slice(4))),
  prefixed('OpenShift token', 'sha256~', '[A-Za-z0-9_-]{43}'),
  prefixed('Perplexity key', 'pplx-', '[A-Za-z0-9]{48}'),
  prefixed('PlanetScale key', 'pscale_', '(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}'),
  prefixed('Postman key', 'PMAK-', '[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}'),
  prefixed('Prefect token', 'pnu_', '[A-Za-z0-9]{36}'),
  prefixed('Pulumi token', 'pul-', '[a-f0-9]{40}'),
  prefixed('ReadMe key', 'rdme_', '[a-z0-9]{70}'),
  prefixed('RubyGems key', 'rubygems_', '[a-f0-9]{48}'),
  prefixed('Scalingo token', 'tk-us-', '[A-Za-z0-9_-]{48}'),
  prefixed('Sentry token', 'sntrys_eyJ', '[A-Za-z0-9+/]{20,500}={0,2}_[A-Za-z0-9+/]{43}'),
  prefixed('Sentry token', 'sntryu_', '[a-f0-9]{64}'),
  prefixed('SettleMint token', 'sm_', '[aps]at_[A-Za-z0-9]{16}'),
  prefixed('Shippo token', 'shippo_', '(?:live|test)_[A-Fa-f0-9]{40}'),
  prefixed('SonarQube token', 'sq', '[aup]_[A-Za-z0-9]{40}'),
  prefixed('Sourcegraph token', 'sgp_', '(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}'),
  prefixed('Typeform token', 'tfp_', '[A-Za-z0-9_.=-]{59}'),
  prefixed('Yandex key', 'AQVN', '[A-Za-z0-9_-]{35,38}', isMixed),
  prefixed('Yandex key', 'YC', '[A-Za-z0-9_-]{38}', isMixed),
]
