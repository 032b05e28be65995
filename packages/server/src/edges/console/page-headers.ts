// The security headers of the console's pages, and the page shown without a build.

const consolePolicy = [
  "script-src 'self'",
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
].join('; ')

/**
 * The vault page runs one script, which is its worker too and derives keys with Argon2 in WebAssembly. Its styles are part of the script.
 * Trusted Types leave the address of that script as the only text that can become code.
 */
const vaultPolicy = [
  "script-src 'self' 'wasm-unsafe-eval'",
  "default-src 'none'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types callsign-vault',
].join('; ')

export const vaultPage = 'vault.html'

/** A worker takes its policy from its own response (CSP 3, section 4.2.2), so the script of the vault carries the vault's. */
const isVaultScript = (name: string): boolean => /^assets\/vault-[^/]+\.js$/.test(name)

/** Headers of one file of the console. Referrer-Policy and X-Content-Type-Options are on every response of the server. */
export const pageHeaders = (name: string): Record<string, string> => ({
  'content-security-policy': name === vaultPage || isVaultScript(name) ? vaultPolicy : consolePolicy,
  // No other page gets a handle of the vault's window, not even one of the console that was taken over.
  'cross-origin-opener-policy': name === vaultPage ? 'noopener-allow-popups' : 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-frame-options': 'DENY',
  // A saved vault page has an origin of its own, and reads the script to check its hash.
  ...(isVaultScript(name) && { 'access-control-allow-origin': '*' }),
})

export const notBuiltPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Callsign console: not built</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build -w @callsign/console</code> in the checkout, then reload this page. <code>npm start</code> does it by itself.</p>
<p>The API works without it. Its documentation is at <a href="/docs">/docs</a>.</p>
</html>
`
