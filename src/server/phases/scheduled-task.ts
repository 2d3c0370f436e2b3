// The type of a scheduled task: work that the service repeats by itself, with the nodes that run it.
import type { Services } from '../context/services.ts'
import type { listOrgs } from '../journal/orgs/store.ts'

/**
 * Every node runs a task that is about itself: its connections, streams, files, memory. Other tasks run once in the cluster, on the
 * node that holds them, or once for each organisation, shared out among the nodes.
 */
export type ScheduledTask = EveryNodeTask | OneNodeTask | OrganisationTask

interface TaskTiming {
  /** Completes the sentence "… failed, trying again" in the log. */
  readonly name: string
  readonly pauseMs: number
}
interface EveryNodeTask extends TaskTiming {
  readonly runsOn: 'every node'
  readonly run: (signal: AbortSignal) => Promise<unknown>
}
interface OneNodeTask extends TaskTiming {
  readonly runsOn: 'one node'
  /** Must write through these services only: their database refuses to when another node holds the task. */
  readonly run: (services: Services, signal: AbortSignal) => Promise<unknown>
}
interface OrganisationTask extends TaskTiming {
  readonly runsOn: 'one node for each organisation'
  readonly run: (services: Services, org: OrgRow, signal: AbortSignal) => Promise<unknown>
}
type OrgRow = Awaited<ReturnType<typeof listOrgs>>[number]
