// Lines for operators: JSON on standard error. Keys, hashes, bodies and vault values never appear.
import { type DestinationStream, type Logger, pino } from 'pino'
import { nowMs } from './clock.ts'

export type Log = Logger

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Lines are written together, at this many bytes or milliseconds: a write for each costs as much as answering the request it tells of. */
const linesBytes = 4096
const linesMs = 50

let standardError: DestinationStream | null = null

/** Standard error, one buffer for all loggers; what is in it when the process exits is written then. */
function openStandardError(): DestinationStream {
  if (standardError !== null) return standardError
  const destination = pino.destination({ dest: 2, sync: true, minLength: linesBytes, periodicFlush: linesMs })
  process.on('exit', () => destination.flushSync())
  standardError = destination
  return destination
}

let currentSecond = 0
let secondText = ''

/** The time as pino wants it, ISO 8601; the part down to the second is made once a second. */
function timeField(): string {
  const ms = nowMs()
  const second = Math.floor(ms / 1000)
  if (second !== currentSecond) {
    currentSecond = second
    secondText = `,"time":"${new Date(second * 1000).toISOString().slice(0, 20)}`
  }
  return `${secondText}${String(ms - second * 1000).padStart(3, '0')}Z"`
}

/** A logger; each part of the server takes a child with its own `part`. */
export const createLog = (level: LogLevel): Log =>
  pino({ level, base: null, timestamp: timeField, formatters: { level: (label) => ({ level: label }) } }, openStandardError())
