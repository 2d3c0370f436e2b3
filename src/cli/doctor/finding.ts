// The result of one check of `roomkeeper doctor`.

export type FindingState = 'ok' | 'warning' | 'failed'

export interface DoctorFinding {
  readonly state: FindingState
  readonly subject: string
  /** States the fact and, unless it is ok, the remedy. */
  readonly message: string
}

export const ok = (subject: string, message: string): DoctorFinding => ({ state: 'ok', subject, message })
export const warning = (subject: string, message: string): DoctorFinding => ({ state: 'warning', subject, message })
export const failed = (subject: string, message: string): DoctorFinding => ({ state: 'failed', subject, message })

/** The text of an error with its cause: fetch hides the reason there. */
export function reasonOf(error: unknown): string {
  const { message, code, cause } = error as Error & { code?: string | number; cause?: Error & { code?: string } }
  const inner = cause && (cause.message || cause.code)
  return [message || code, inner].filter(Boolean).join(': ') || String(error)
}
