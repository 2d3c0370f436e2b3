// After a start, and after the end of a node, devices get time to come back before they count as offline. [contract 10.start]
import { lastKnownEnd, type NodeLife, serviceStart } from '../../../nodes/service-runs.ts'

/** A start of the service, or the end of one of its nodes, after which devices have to connect again. */
export interface Restart {
  readonly at: number
  /** Presence counts from here on. */
  readonly until: number
  /** The name of the node that ended, if others went on. */
  readonly node: string | undefined
  /** The nodes whose devices were disconnected. */
  readonly ended: readonly EndedNode[]
}

interface EndedNode {
  readonly id: number
  readonly endedAt: number
}

/** A restart after which less than half of the devices came back. */
export interface FailedRestart {
  readonly at: number
  readonly node?: string
  readonly connectedBefore: number
  /** The devices that were connected before and have not come back. */
  readonly missing: ReadonlySet<string>
}

/** The restarts that the rows of nodes know of: the last start of the service, and the nodes that ended since. */
export function restartsOf(lives: readonly NodeLife[], now: number, settleMs: number): Restart[] {
  const start = serviceStart(lives, now)
  const ended = lives.flatMap(({ id, name, endedAt }) => (endedAt === null ? [] : [{ id, name, endedAt }]))
  const before = ended.filter(({ endedAt }) => endedAt <= start)
  const lastEnd = lastKnownEnd(lives, start, settleMs)
  const since = ended.filter(({ endedAt }) => endedAt > start)
  return [
    {
      at: start,
      until: start + settleMs,
      node: undefined,
      // The nodes of a service that is stopped end one after the other.
      ended: before.filter(({ endedAt }) => endedAt > lastEnd - settleMs),
    },
    ...since.map(({ id, name, endedAt }) => ({
      at: endedAt,
      until: endedAt + settleMs,
      node: name,
      ended: [{ id, endedAt }],
    })),
  ]
}

/** Less than half of the devices are back. */
export const isMostMissing = (connectedBefore: number, missing: number): boolean => missing * 2 > connectedBefore
