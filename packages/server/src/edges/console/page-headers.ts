// The security headers of the console's pages, and the page shown without a build.

const directives = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-src 'self' blob:",
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
]

const policy = (scripts: string): string => [`script-src ${scripts}`, ...directives].join('; ')

const consolePolicy = policy("'self'")
/** The vault page and its worker derive keys with Argon2 in WebAssembly. */
const vaultPolicy = policy("'self' 'wasm-unsafe-eval'")

/** A worker takes its policy from its own response (CSP 3, section 4.2.2), so the scripts of the vault carry the vault's. */
const isVault = (name: string): boolean => name === 'vault.html' || /^assets\/(vault|argon)/.test(name)

/** Headers of one file of the console. Referrer-Policy and X-Content-Type-Options are on every response of the server. */
export const pageHeaders = (name: string): Record<string, string> => ({
  'content-security-policy': isVault(name) ? vaultPolicy : consolePolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
})

export const notBuiltPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Callsign console: not built</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build -w @callsign/console</code> in the checkout, then reload this page. <code>npm start</code> does it by itself.</p>
<p>The API works without it. Its reference is at <a href="/docs">/docs</a>.</p>
</html>
`
