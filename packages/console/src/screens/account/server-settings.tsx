// Single sign-on and retention, as the server is configured.
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Card } from '../../elements/card.tsx'
import { Copy } from '../../elements/copy.tsx'
import { Facts } from '../../elements/facts.tsx'
import { Loaded } from '../../elements/loaded.tsx'
import { consoleCall } from '../../session/console-api.ts'

type Settings = {
  version: string
  public_url: string
  oidc: { issuer: string; name: string; redirect_uri: string } | null
  request_log_days: number
}

export function ServerSettings() {
  const settings = useQuery('server', () => consoleCall<Settings>('GET', 'server'))
  return (
    <Loaded query={settings}>
      {(data) => (
        <div class="stack">
          <Facts
            items={[
              ['Version', data.version],
              ['Public URL', <Copy key="url" value={data.public_url} name="public URL" />],
            ]}
          />
          <div class="overview-columns">
            <SingleSignOn settings={data} />
            <Retention settings={data} />
          </div>
        </div>
      )}
    </Loaded>
  )
}

function SingleSignOn({ settings: { oidc, public_url: publicUrl } }: { settings: Settings }) {
  const redirectUri = oidc?.redirect_uri ?? `${publicUrl}/console/api/sign-in/oidc/callback`
  return (
    <Card title="OpenID Connect" actions={<Badge tone={oidc ? 'good' : 'neutral'}>{oidc ? 'on' : 'off'}</Badge>}>
      <Facts
        items={[
          ...(oidc ? ([['Provider', `${oidc.name}, ${oidc.issuer}`]] as [string, string][]) : []),
          ['Redirect URI', <Copy key="uri" value={redirectUri} name="redirect URI" />],
        ]}
      />
      {!oidc && (
        <p class="muted">
          Register a client with this redirect URI at your provider. Then set <code>CALLSIGN_OIDC_ISSUER</code>,{' '}
          <code>CALLSIGN_OIDC_CLIENT_ID</code> and <code>CALLSIGN_OIDC_CLIENT_SECRET_FILE</code>, and start the server again.
        </p>
      )}
    </Card>
  )
}

function Retention({ settings: { request_log_days: days } }: { settings: Settings }) {
  return (
    <Card title="Retention">
      <Facts
        items={[
          ['Mail', 'until it is deleted'],
          ['Trash', '30 days'],
          ['Webhook deliveries', '30 days'],
          ['Request log', days === 0 ? 'off' : `${days} days`],
          ['Tunnel requests', '24 hours'],
          ['Usage', '400 days'],
        ]}
      />
      <p class="muted">
        <code>CALLSIGN_REQUEST_LOG_DAYS</code> sets the days of the request log.
      </p>
    </Card>
  )
}
