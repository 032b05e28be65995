// The results of delivery attempts in words.
import type { DeliveryDetail } from '@callsign/sdk'

type Attempt = Pick<DeliveryDetail['attempts'][number], 'status_code' | 'error_code'>

const words: Record<string, string> = {
  dns: 'Host not found',
  blocked_address: 'Private address',
  invalid_url: 'Invalid URL',
  connect_refused: 'Connection refused',
  connect_timeout: 'No connection',
  connection_lost: 'Connection lost',
  tls_expired: 'Expired certificate',
  tls_hostname: 'Certificate of another host',
  tls_untrusted: 'Untrusted certificate',
  tls_failed: 'TLS failed',
  timeout: 'No answer in time',
  too_large: 'Answer too large',
  bad_response: 'Not an HTTP answer',
  not_subscribed: 'No longer subscribed',
}

/** The status that the endpoint answered, or the reason why there is none. Empty before the first attempt. */
export function answerText({ status_code: status, error_code: code }: Attempt): string {
  if (status !== null) return `HTTP ${status}`
  return code === null ? '' : (words[code] ?? code.replaceAll('_', ' '))
}
