// The forms of API keys, by issuer, from the issuers' public documentation. Each pattern starts with a fixed text and takes linear time.
import { otherIssuers } from './other-issuers.ts'
import { type IssuerRule, isMixed, apiKey as key } from './secret.ts'

/** True for a JSON Web Token (RFC 7519): its header is JSON with an algorithm. */
function isWebToken(token: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString())
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}

const gitlabTokens = ['pat', 'dt', 'rt', 'cbt', 'ft', 'soat', 'ffct', 'rtr'].map((kind) => `gl${kind}-`)

/** Issuers of keys for mail, payments, models, clouds and code. The others are in `other-issuers.ts`. */
const issuers: readonly IssuerRule[] = [
  // The middle may have `_` and `-`, because the first key can be a setting.
  {
    type: 'callsign_key',
    name: 'Callsign key',
    literals: ['svc_live_'],
    pattern: /\bsvc_live_[0-9A-Za-z]{16}[0-9A-Za-z_-]{43}[0-9A-Za-z]{6}(?![0-9A-Za-z])/g,
  },
  key('AWS access key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], /(?<![A-Za-z0-9])A(?:KI|SI|BI|CC)A[A-Z2-7]{16}(?![A-Za-z0-9])/g, (text) =>
    /[2-7]/.test(text.slice(4)),
  ),
  key('Amazon Bedrock key', 'ABSK', /(?<![A-Za-z0-9+/])ABSK[A-Za-z0-9+/]{109,269}={0,2}(?![A-Za-z0-9+/=])/g),
  // The text after the prefix is a presigned request in Base64, which begins with the host.
  key('Amazon Bedrock key', 'bedrock-api-key-', /\bbedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]{0,2000}/g),
  key(
    'AWS secret key',
    ['secret', 'SECRET', 'Secret'],
    /secret_?(?:access)?_?key["']?\s{0,4}[:=]\s{0,4}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
    isMixed,
  ),
  key('GitHub token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], /\bgh[pousr]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g),
  key('GitHub token', 'github_pat_', /\bgithub_pat_[A-Za-z0-9_]{82}(?![A-Za-z0-9_])/g),
  key('GitLab token', gitlabTokens, /\bgl(?:pat|dt|rt|cbt|ft|soat|ffct|rtr)-[A-Za-z0-9_-]{20,300}(?![A-Za-z0-9_-])/g, isMixed),
  key('GitLab token', ['glptt-', 'glimt-'], /\bgl(?:ptt-[A-Za-z0-9_-]{40}|imt-[A-Za-z0-9_-]{25})(?![A-Za-z0-9_-])/g, isMixed),
  key('GitLab token', ['glagent-', 'gloas-'], /\bgl(?:agent-[A-Za-z0-9_-]{50,300}|oas-[A-Za-z0-9_-]{64})(?![A-Za-z0-9_-])/g, isMixed),
  key('GitLab token', 'GR1348941', /\bGR1348941[A-Za-z0-9_-]{20,50}/g),
  key('Stripe key', ['k_live_', 'k_test_', 'k_prod_'], /\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,247}/g),
  key('webhook secret', 'whsec_', /\bwhsec_[A-Za-z0-9+/]{24,96}={0,2}/g),
  key('Slack token', 'xox', /\bxox[abeoprs](?:-\d)?(?:-\d{6,14}){1,4}-[A-Za-z0-9]{10,250}(?![A-Za-z0-9])/g, (text) =>
    /[a-z]/i.test(text.slice(text.lastIndexOf('-'))),
  ),
  key('Slack token', 'xoxe', /\bxoxe(?:\.xox[bp])?-\d-(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{100,250}/g, isMixed),
  key('Slack token', 'xapp-', /\bxapp-\d-[A-Z0-9]{6,20}-\d{6,20}-[a-z0-9]{32,128}/g),
  key(
    'Slack webhook',
    'hooks.slack.com/',
    /hooks\.slack\.com\/(?:services|workflows|triggers)\/(T[A-Z0-9]{6,20}(?:\/[A-Z0-9]{6,20}){1,2}\/[A-Za-z0-9]{20,32})/g,
  ),
  key('Google API key', 'AIza', /\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])/g),
  key('Google client secret', 'GOCSPX-', /\bGOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])/g),
  key('Google access token', 'ya29.', /\bya29\.[0-9A-Za-z_-]{20,400}/g),
  key('Anthropic key', 'sk-ant-', /\bsk-ant-[a-z]{2,8}\d{2}-[A-Za-z0-9_-]{80,128}/g),
  key('OpenAI key', ['sk-proj-', 'sk-svcacct-', 'sk-admin-'], /\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,200}/g),
  key('OpenAI key', 'T3BlbkFJ', /\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}(?![A-Za-z0-9])/g),
  key('API key', 'sk-', /(?<![A-Za-z0-9_-])sk-(?:or-v1-)?(?:[A-Za-z0-9]{48}|[a-f0-9]{64}|[a-f0-9]{32})(?![A-Za-z0-9_-])/g, isMixed),
  key('Twilio key', 'SK', /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g),
  key('Twilio auth token', ['auth', 'AUTH', 'Auth'], /twilio\w{0,16}auth_?token["']?\s{0,4}[:=]\s{0,4}["']?([0-9a-f]{32})(?![0-9a-f])/gi),
  key('SendGrid key', 'SG.', /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g),
  key('Mailgun key', 'key-', /(?<![A-Za-z0-9_-])key-[0-9a-f]{32}(?![0-9a-f])/g),
  key('Resend key', 're_', /(?<![A-Za-z0-9_])re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])/g),
  key('npm token', 'npm_', /\bnpm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g),
  key(
    'npm token',
    ':_authToken',
    /\/\/[\w.-]{1,100}(?:\/[\w.-]{1,100}){0,5}\/:_authToken\s{0,2}=\s{0,2}["']?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g,
  ),
  key('PyPI token', 'pypi-', /\bpypi-AgE[A-Za-z0-9_-]{50,250}/g),
  key('Telegram bot token', ':AA', /(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g),
  key('DigitalOcean token', '_v1_', /\bdo[opr]_v1_[a-f0-9]{64}(?![a-f0-9])/g),
  key('Shopify token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}(?![a-fA-F0-9])/g),
  key('Hugging Face token', ['hf_', 'api_org_'], /\b(?:hf|api_org)_[A-Za-z]{34}(?![A-Za-z0-9])/g),
  key('Square token', 'sq0', /\bsq0(?:atp|csp)-[0-9A-Za-z_-]{22,60}/g),
  key('Square token', 'EAAA', /(?<![A-Za-z0-9_+/-])EAAA[0-9A-Za-z_-]{56,60}(?![A-Za-z0-9_+/=-])/g, isMixed),
  key('Azure storage key', 'AccountKey=', /AccountKey=([A-Za-z0-9+/]{86}==)/g),
  key('Databricks token', 'dapi', /(?<![A-Za-z0-9])dapi[a-f0-9]{32}(?![a-f0-9])/g),
  key('HashiCorp Vault token', ['hvs.', 'hvb.'], /\bhv[sb]\.[A-Za-z0-9_-]{24,300}/g),
  key(
    'JSON Web Token',
    'eyJ',
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{20,2000}/g,
    isWebToken,
  ),
]

export const issuerRules: readonly IssuerRule[] = [...issuers, ...otherIssuers]
