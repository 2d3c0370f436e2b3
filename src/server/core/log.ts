// Structured logs on standard error, one JSON object per line. Callers must not log secrets.
import { type Logger, pino } from 'pino'

export type Log = Logger

export const makeLog = (level: string): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: true }),
  )
