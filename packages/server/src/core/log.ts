// Lines for operators: JSON on standard error. Keys, hashes, bodies and vault values never appear.
import { type Logger, pino } from 'pino'

export type Log = Logger

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** A logger; each part of the server takes a child with its own `part`. */
export const createLog = (level: LogLevel): Log =>
  pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    pino.destination(2),
  )
