// The bug reports that were asked for or opened here, as long as this page of the browser lives: the service has no list of them.
import { useMemo, useSyncExternalStore } from 'react'
import { useSession } from '../../session.ts'

interface KnownReport {
  readonly org: string
  readonly supportId: string
  /** On whose page it was asked for or opened. */
  readonly endpointId: string
}

let known: readonly KnownReport[] = []
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function become(next: readonly KnownReport[]): void {
  known = next
  for (const listener of listeners) listener()
}

/** The support IDs of a device's page, the newest first. */
export function useKnownReports(endpointId: string) {
  const { org } = useSession()
  const all = useSyncExternalStore(subscribe, () => known)
  return useMemo(() => {
    const isSame = (one: KnownReport, supportId: string) =>
      one.org === org.id && one.endpointId === endpointId && one.supportId === supportId
    return {
      supportIds: all.filter((one) => isSame(one, one.supportId)).map(({ supportId }) => supportId),
      remember: (supportId: string) =>
        become([{ org: org.id, supportId, endpointId }, ...known.filter((one) => !isSame(one, supportId))]),
      forget: (supportId: string) => become(known.filter((one) => !isSame(one, supportId))),
    }
  }, [all, org.id, endpointId])
}
