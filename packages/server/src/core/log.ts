// Log lines for operators, as JSON on standard error. Keys, hashes, bodies and vault values never appear.
import { type DestinationStream, type Logger, pino } from 'pino'
import { nowMs } from './clock.ts'
import { DatabaseUnavailable } from './sql.ts'

export type Log = Logger

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Bytes or milliseconds after which lines are written together. One write per line would cost as much as answering the request. */
const linesBytes = 4096
const linesMs = 50

let standardError: DestinationStream | null = null

/** Standard error with one buffer for all loggers, which is flushed when the process exits. */
function openStandardError(): DestinationStream {
  if (standardError !== null) return standardError
  const destination = pino.destination({ dest: 2, sync: true, minLength: linesBytes, periodicFlush: linesMs })
  process.on('exit', () => destination.flushSync())
  standardError = destination
  return destination
}

let currentSecond = 0
let secondText = ''

/** The time field of pino, in ISO 8601. The part up to the second is formatted once per second. */
function timeField(): string {
  const ms = nowMs()
  const second = Math.floor(ms / 1000)
  if (second !== currentSecond) {
    currentSecond = second
    secondText = `,"time":"${new Date(second * 1000).toISOString().slice(0, 20)}`
  }
  return `${secondText}${String(ms - second * 1000).padStart(3, '0')}Z"`
}

/** An outage of the database is one event with many requests, so its lines have no stack. */
const errorField = (error: Error): object =>
  error instanceof DatabaseUnavailable ? { type: error.name, message: error.message } : pino.stdSerializers.err(error)

/** A logger. Each part of the server uses a child with its own `part`. */
export const createLog = (level: LogLevel): Log =>
  pino(
    { level, base: null, timestamp: timeField, formatters: { level: (label) => ({ level: label }) }, serializers: { err: errorField } },
    openStandardError(),
  )
