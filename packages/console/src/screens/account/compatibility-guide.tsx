// Settings with which programs written for Resend and AgentMail use this server.
import { Card } from '../../elements/card.tsx'
import { Copy } from '../../elements/copy.tsx'
import { addressOf } from '../../navigation/place.ts'

const resend = `export RESEND_BASE_URL=${location.origin}/compat/resend
export RESEND_API_KEY=svc_live_…`

const agentMail = `import { AgentMailClient } from 'agentmail'

const client = new AgentMailClient({
  apiKey: 'svc_live_…',
  baseUrl: '${location.origin}/compat/agentmail',
})`

export function CompatibilityGuide() {
  return (
    <div class="stack">
      <p>
        Programs written for these services use their own SDK with another base URL and a key from <a href={addressOf('/keys')}>Keys</a>.
        The documentation of <a href="/docs">moving to Callsign</a> lists what differs.
      </p>
      <div class="overview-columns">
        <Snippet title="Resend" code={resend} />
        <Snippet title="AgentMail" code={agentMail} />
      </div>
    </div>
  )
}

function Snippet({ title, code }: { title: string; code: string }) {
  return (
    <Card title={title} actions={<Copy value={code} text="Copy" name="code" />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide sample scrolls, so it needs the keyboard */}
      <pre class="pre" tabIndex={0}>
        {code}
      </pre>
    </Card>
  )
}
