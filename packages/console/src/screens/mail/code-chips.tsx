// One-time codes and confirmation links of a message, ready to copy.
import type { MessageItem } from '@callsign/sdk'
import { Copy } from '../../elements/copy.tsx'

const purposes: Record<string, string> = { sign_in: 'Sign in', verify: 'Verify', password_reset: 'Reset', payment: 'Payment' }

export function CodeChips({ codes }: { codes: MessageItem['codes'] }) {
  if (codes.length === 0) return null
  return (
    <ul class="code-chips" aria-label="Codes and links">
      {codes.slice(0, 4).map((code) => (
        <li key={code.value} class="row">
          <span class="faint">{code.purpose ? purposes[code.purpose] : code.kind === 'one_time_code' ? 'Code' : 'Link'}</span>
          <Copy value={code.value} name={code.kind === 'one_time_code' ? 'code' : 'link'} isChip />
          {code.domain && <span class="faint truncate">{code.domain}</span>}
        </li>
      ))}
    </ul>
  )
}
