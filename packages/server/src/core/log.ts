// Log lines for operators on standard error, as JSON, or readable on a terminal. Keys, hashes, bodies and vault values never appear.
import { type DestinationStream, type Logger, pino } from 'pino'
import { BlobsUnavailable } from './blobs.ts'
import { nowMs } from './clock.ts'
import { toReadableLine } from './readable-log.ts'
import { DatabaseUnavailable } from './sql.ts'

export type Log = Logger

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Bytes or milliseconds after which lines are written together. One write per line would cost as much as answering the request. */
const linesBytes = 4096
const linesMs = 50

let standardError: DestinationStream | null = null

/** True while a page for people is on the terminal, and only warnings and errors may stand beside it. */
let isQuiet = false

/** Leaves lines below a warning out of the log on a terminal. */
export function quietTerminal(quiet: boolean): void {
  isQuiet = quiet
}

/** Readable lines, one write each, so that a person sees them at once. */
const terminal: DestinationStream = {
  write(line) {
    if (!isQuiet || !/^\{"level":"(?:debug|info)"/.test(line)) process.stderr.write(toReadableLine(line))
  },
}

/** Standard error with one buffer for all loggers, which is flushed when the process exits. */
function openStandardError(): DestinationStream {
  if (process.stderr.isTTY) return terminal
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

/** An outage of the database or the blob store is one event with many requests, so its lines have no stack. */
const errorField = (error: Error): object =>
  error instanceof DatabaseUnavailable || error instanceof BlobsUnavailable
    ? { type: error.name, message: error.message }
    : pino.stdSerializers.err(error)

/** A logger. Each part of the server uses a child with its own `part`. */
export const createLog = (level: LogLevel): Log =>
  pino(
    { level, base: null, timestamp: timeField, formatters: { level: (label) => ({ level: label }) }, serializers: { err: errorField } },
    openStandardError(),
  )
