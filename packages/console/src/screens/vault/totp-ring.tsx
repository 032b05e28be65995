// The current one-time password, with a ring that empties until the next one.
import type { TotpCode } from '@callsign/sdk'
import { useEffect, useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { copySecret } from './clipboard.ts'
import { vaultCalls } from './vault-worker.ts'

const tickMs = 1000
const radius = 15
const length = 2 * Math.PI * radius

export function TotpRing({ id }: { id: string }) {
  const [code, setCode] = useState<TotpCode | null>(null)
  const [error, setError] = useState<string | null>(null)
  useEffect(() => {
    const read = () =>
      vaultCalls()
        .then((calls) => calls.totp(id, Date.now()))
        .then(setCode, (reason: Error) => setError(reason.message))
    void read()
    const timer = setInterval(() => void read(), tickMs)
    return () => clearInterval(timer)
  }, [id])
  if (error) return <Notice tone="bad">{error}</Notice>
  if (!code) return null
  const { secondsLeft, periodSeconds } = code
  const half = Math.ceil(code.code.length / 2)
  return (
    <div class={`totp${secondsLeft <= 5 ? ' soon' : ''}`}>
      <svg viewBox="0 0 36 36" aria-hidden="true">
        <circle class="totp-track" cx="18" cy="18" r={radius} />
        <circle
          class="totp-left"
          cx="18"
          cy="18"
          r={radius}
          stroke-dasharray={length}
          stroke-dashoffset={length * (1 - secondsLeft / periodSeconds)}
          transform="rotate(-90 18 18)"
        />
        <text x="18" y="22" text-anchor="middle">
          {secondsLeft}
        </text>
      </svg>
      <div>
        <h3>One-time password</h3>
        <output class="totp-code" aria-label="One-time password">
          {code.code.slice(0, half)} {code.code.slice(half)}
        </output>
      </div>
      <Button icon="copy" label="Copy one-time password" onClick={() => void copySecret(code.code, 'one-time password')} />
    </div>
  )
}
