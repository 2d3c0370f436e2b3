// Structured logs on standard error, one JSON object per line. Callers must not log secrets.
import { type Logger, pino } from 'pino'

export type Log = Logger

/** Lines that wait for a slow reader of standard error. Further lines are dropped, because the service must not wait. */
const maxWaitingBytes = 1024 * 1024
/** Waiting lines are tried again after this time, and with each further line. */
const retryMs = 100

export function makeLog(level: string): Log {
  // A line is written before the caller goes on, so that none is missing after a crash. A full pipe is not waited for.
  const output = pino.destination({ fd: 2, sync: true, maxLength: maxWaitingBytes, retryEAGAIN: () => false })
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  )
  let isRetrying = false
  // The lines stay in the memory of `output`, which tries to write them when it is given more text.
  output.on('error', () => {
    if (isRetrying) return
    isRetrying = true
    setTimeout(() => {
      isRetrying = false
      output.write('')
    }, retryMs).unref()
  })
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
