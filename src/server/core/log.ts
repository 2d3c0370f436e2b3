// Structured logs on standard error, one JSON object per line. Callers must not log secrets.
import { type Logger, pino } from 'pino'

export type Log = Logger

/** Lines that wait for a slow reader of standard error, in characters. Further lines are dropped, because the service must not wait. */
const maxWaitingChars = 1024 * 1024

export function makeLog(level: string): Log {
  const output = pino.destination({ fd: 2, sync: false, maxLength: maxWaitingChars })
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  )
  let dropped = 0
  output.on('drop', () => {
    dropped++
  })
  output.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ lines }, 'log lines dropped, because the reader of standard error was too slow')
  })
  return log
}
