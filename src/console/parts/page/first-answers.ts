// Says when a page can be drawn without parts that move others down later: the answers that decide its height are there.

interface FirstAnswer {
  readonly isPending: boolean
  readonly fetchStatus: 'fetching' | 'paused' | 'idle'
  readonly failureCount: number
}

/** Each answer has arrived, has failed once, or waits for a connection. Parts of the page show their own errors. */
export const areAnswered = (answers: readonly FirstAnswer[]): boolean =>
  answers.every(
    ({ isPending, fetchStatus, failureCount }) => !isPending || fetchStatus === 'paused' || failureCount > 0,
  )
