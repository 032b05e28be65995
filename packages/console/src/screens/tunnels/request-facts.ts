// Short forms of the facts of a request.
import type { TunnelRequest } from '@callsign/sdk'
import type { Tone } from '../../elements/badge.tsx'

export const toneOf = (status: number | null): Tone => (status === null || status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

export const answerOf = ({ status, error }: TunnelRequest): string => error ?? String(status ?? '')

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  return count < 1024 * 1024 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 / 1024).toFixed(1)} MB`
}

/** Status classes that the list filters by. */
export const statusClasses = [
  { value: '', label: 'All answers' },
  { value: '2', label: '2xx' },
  { value: '3', label: '3xx' },
  { value: '4', label: '4xx' },
  { value: '5', label: '5xx and errors' },
] as const

/** True for a request whose method or path has the text, and whose answer is of the class. */
export function matches(request: TunnelRequest, text: string, statusClass: string): boolean {
  const isOfClass = statusClass === '' || String(request.status ?? 500)[0] === statusClass
  return isOfClass && `${request.method} ${request.path}`.toLowerCase().includes(text.toLowerCase())
}
