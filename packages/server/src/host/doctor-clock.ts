// The doctor's check of this machine's clock against an NTP server.
import type { Config } from '../config/settings.ts'
import { measureClock } from '../edges/dns/time-server.ts'
import { attention, type Finding, note, ok, reasonOf } from './finding.ts'

const answerMs = 3_000
const ntpPort = 123
/** Signatures of webhooks and tokens allow for minutes, one-time codes for 30 seconds. */
const offMsMax = 2_000

export async function checkClock({ doctorTimeServer: server }: Config): Promise<Finding[]> {
  if (server === null) return []
  const { host, port } = splitServer(server)
  try {
    const aheadMs = await measureClock(host, port, answerMs)
    const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
    if (Math.abs(aheadMs) <= offMsMax) return [ok(`The clock agrees with ${server}.`)]
    return [
      attention(
        `The clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${server}. Synchronize it with NTP (Debian: apt install systemd-timesyncd).`,
      ),
    ]
  } catch (error) {
    return [
      note(`The clock was not checked: ${server} does not answer (${reasonOf(error)}). Set CALLSIGN_DOCTOR_TIME_SERVER to another server.`),
    ]
  }
}

function splitServer(server: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(server) ?? []
  return { host: bracketed ?? plain ?? server, port: port === undefined ? ntpPort : Number(port) }
}
