// Remembers the bug reports that were requested or opened in this browser tab, because the API does not list them.
import { useMemo, useSyncExternalStore } from 'react'
import { useSession } from '../../session.ts'

interface OpenedReport {
  readonly org: string
  readonly supportId: string
  /** The report was requested or opened on the page of this device. */
  readonly endpointId: string
}

let reports: readonly OpenedReport[] = []
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function setReports(next: readonly OpenedReport[]): void {
  reports = next
  for (const listener of listeners) listener()
}

/** Returns the support IDs of one device page; the newest comes first. */
export function useOpenedReports(endpointId: string) {
  const { org } = useSession()
  const all = useSyncExternalStore(subscribe, () => reports)
  return useMemo(() => {
    const isSame = (one: OpenedReport, supportId: string) =>
      one.org === org.id && one.endpointId === endpointId && one.supportId === supportId
    return {
      supportIds: all.filter((one) => isSame(one, one.supportId)).map(({ supportId }) => supportId),
      add: (supportId: string) =>
        setReports([{ org: org.id, supportId, endpointId }, ...reports.filter((one) => !isSame(one, supportId))]),
      remove: (supportId: string) => setReports(reports.filter((one) => !isSame(one, supportId))),
    }
  }, [all, org.id, endpointId])
}
