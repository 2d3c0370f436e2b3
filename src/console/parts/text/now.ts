// The time, looked at again now and then: ages grow while nothing happens.
import { useEffect, useState } from 'react'

export function useNow(every = 10_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}
