// Request headers that only proxies write: an authenticated user, a client certificate, or the address of the client. Targets often trust
// them, so they are relayed only from a trusted proxy. Each name is the property of a product or convention, so that an application's own
// headers, such as X-Remote-Control, pass.

type Entry = { names: string[]; source: string }

/**
 * Names in lower case. `*` at the end stands for any rest, and is used where the prefix belongs to one product, or where the product makes
 * names from claims.
 */
const identityHeaders: Entry[] = [
  { names: ['x-remote-user', 'x-remote-user-*'], source: 'REMOTE_USER of Apache and nginx, passed on as a header' },
  { names: ['x-remote-group', 'x-remote-uid', 'x-remote-extra-*'], source: 'Kubernetes, authenticating proxy' },
  {
    names: ['x-remote-name', 'x-remote-email', 'x-remote-login', 'x-remote-groups', 'x-remote-role', 'x-remote-roles'],
    source: 'nginx auth_request',
  },
  { names: ['remote-*'], source: 'Authelia, and REMOTE_USER of Apache and nginx, passed on as a header' },
  { names: ['x-ssl-*', 'ssl-client-*'], source: 'mod_ssl, ngx_http_ssl_module and HAProxy (ssl_c_*), under names of the operator' },
  {
    names: ['x-client-cert', 'x-client-cert-*', 'x-client-certificate', 'x-client-dn', 'x-client-s-dn'],
    source: 'HAProxy and nginx guides',
  },
  {
    names: ['x-client-verify', 'x-client-verified', 'x-client-subject', 'x-client-subject-*', 'x-tls-client-*'],
    source: 'HAProxy and nginx guides',
  },
  { names: ['client-cert', 'client-cert-chain'], source: 'RFC 9440' },
  { names: ['x-auth-request-*'], source: 'oauth2-proxy' },
  { names: ['x-authenticated-*'], source: 'Kong OAuth 2.0 (X-Authenticated-Userid, -Scope) and nginx guides' },
  { names: ['x-authentik-*'], source: 'authentik' },
  { names: ['x-pomerium-*'], source: 'Pomerium' },
  { names: ['x-webauth-*'], source: 'Grafana auth proxy' },
  { names: ['x-vouch-*'], source: 'Vouch Proxy' },
  { names: ['x-consumer-*', 'x-anonymous-consumer'], source: 'Kong and Apache APISIX' },
  { names: ['x-credential-identifier', 'x-credential-username', 'x-userinfo'], source: 'Kong' },
  { names: ['x-jwt-claim-*', 'x-jwt-claims', 'x-jwt-payload'], source: 'Envoy and Istio, claims as headers' },
  { names: ['x-amzn-oidc-*', 'x-amzn-mtls-*'], source: 'AWS Application Load Balancer' },
  { names: ['x-goog-authenticated-user-*', 'x-goog-iap-*'], source: 'Google Identity-Aware Proxy' },
  { names: ['x-endpoint-api-userinfo', 'x-apigateway-api-userinfo'], source: 'Google Cloud Endpoints and API Gateway' },
  { names: ['x-ms-client-principal', 'x-ms-client-principal-*', 'x-ms-token-*', 'x-arr-clientcert'], source: 'Azure App Service' },
  { names: ['cf-access-authenticated-*', 'cf-access-jwt-*'], source: 'Cloudflare Access' },
  { names: ['tailscale-user-*', 'tailscale-headers-*', 'tailscale-app-*'], source: 'Tailscale Serve' },
  { names: ['x-verified-*'], source: 'nginx auth_request guides, under names of the operator' },
  { names: ['iv-user', 'iv-user-l', 'iv-groups', 'iv-creds'], source: 'IBM Security Verify Access' },
  { names: ['sm-user', 'smuser', 'sm-userdn'], source: 'SiteMinder' },
  { names: ['oidc-*'], source: 'mod_auth_openidc, whose prefix of claims the operator chooses' },
  { names: ['x-proxy-user', 'x-proxy-roles'], source: 'Elasticsearch and OpenSearch proxy authentication' },
  { names: ['kubeflow-userid'], source: 'Kubeflow' },
  { names: ['x-token-user-*', 'x-token-subject'], source: 'caddy-security' },
  { names: ['x-appengine-user-*'], source: 'Google App Engine' },
]

const addressHeaders: Entry[] = [
  {
    names: ['x-client-ip', 'x-cluster-client-ip', 'x-remote-ip', 'x-remote-addr'],
    source: 'load balancers, and nginx guides',
  },
  { names: ['true-client-ip'], source: 'Akamai and Cloudflare' },
  { names: ['cf-connecting-ip', 'cf-connecting-ipv6'], source: 'Cloudflare' },
  { names: ['fastly-client-ip'], source: 'Fastly' },
  { names: ['x-envoy-external-address'], source: 'Envoy' },
  { names: ['x-forwarded-*'], source: 'the whole family, with X-Forwarded-User, -Email, -Groups and -Client-Cert' },
]

/** Names of applications below a prefix of proxies. No product takes an identity from them. */
const applicationHeaders: Entry[] = [
  { names: ['remote-control'], source: 'commands to devices and players' },
  { names: ['x-ssl-grade'], source: 'reports of TLS scanners' },
  { names: ['x-consumer-timestamp'], source: 'time of a signed request' },
  { names: ['x-verified-purchase'], source: 'reviews in shops' },
  { names: ['oidc-issuer'], source: 'address of a provider, which names no person' },
]

const free = new Set(applicationHeaders.flatMap(({ names }) => names))
const all = [...identityHeaders, ...addressHeaders].flatMap(({ names }) => names)
const whole = new Set(all.filter((name) => !name.endsWith('*')))
const prefixes = new RegExp(`^(?:${all.flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1)] : [])).join('|')})`)

/** True for the lower-case name, with `-` for every sign, of a header that only proxies write. */
export const isProxyHeader = (name: string): boolean => !free.has(name) && (whole.has(name) || prefixes.test(name))
