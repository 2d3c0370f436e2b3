// Tells when the connection to the server has been lost for more than a moment.
import { useEffect, useState } from 'react'
import { lastHeardMs, useLiveState } from './live-state.ts'

/** The stream is opened again within this time if the server is there, and nothing needs to be said. */
const graceMs = 2000

/** The time of the last update; undefined while the page is live. */
export function useConnectionLost(): number | undefined {
  const { state } = useLiveState()
  const [lastUpdateMs, setLastUpdateMs] = useState<number>()
  const isLost = state === 'lost'
  useEffect(() => {
    if (!isLost) return undefined
    const timer = setTimeout(() => setLastUpdateMs(lastHeardMs()), graceMs)
    return () => {
      clearTimeout(timer)
      setLastUpdateMs(undefined)
    }
  }, [isLost])
  return lastUpdateMs
}
