// Finds the devices that still have time to reconnect after a restart, and the restarts after which too few did. [contract 10.start]

import type { OrgReader } from '../../../db/handles.ts'
import type { SystemReader } from '../../../db/system.ts'
import { listNodeLives } from '../../../nodes/store.ts'
import { type FailedRestart, isMostMissing, type Restart, restartsOf } from './settle.ts'
import { countDevicesOfNodes, findJudgedUntil, listLostDevices } from './settle-store.ts'

/** The restarts of one run. */
export class ReturningDevices {
  readonly #restarts: readonly Restart[]
  /** Until when the presence of devices does not count, because their node has ended. */
  readonly #untilByDevice = new Map<string, number>()
  readonly #now: number

  private constructor(restarts: readonly Restart[], now: number) {
    this.#restarts = restarts
    this.#now = now
  }

  static async read(system: SystemReader, on: OrgReader, now: number, settleMs: number): Promise<ReturningDevices> {
    const restarts = new ReturningDevices(restartsOf(await listNodeLives(system), now, settleMs), now)
    for (const { until, node, ended } of restarts.#restarts) {
      if (node === undefined || until <= now) continue
      for (const device of await listLostOf(on, ended)) restarts.#untilByDevice.set(device, until)
    }
    return restarts
  }

  /** Offline time before this does not count for a condition that has to hold this long. */
  presenceFrom(device: string, holdMs: number): number {
    const start = this.#restarts[0]
    return Math.max(start?.until ?? 0, this.#untilByDevice.get(device) ?? 0) - holdMs
  }

  isReturning(device: string): boolean {
    return this.presenceFrom(device, 0) > this.#now
  }

  /** Judges the restarts after which presence has begun to count since the last run. Returns undefined if there are none. */
  async judge(on: OrgReader): Promise<{ judgedUntil: number; failedRestarts: readonly FailedRestart[] } | undefined> {
    const judgedUntil = (await findJudgedUntil(on))?.judged_until ?? 0
    const due = this.#restarts.filter(({ until }) => until > judgedUntil && until <= this.#now)
    if (due.length === 0) return undefined
    const failedRestarts = await Promise.all(due.map((restart) => failedRestartOf(on, restart)))
    return {
      judgedUntil: Math.max(...due.map(({ until }) => until)),
      failedRestarts: failedRestarts.filter((failedRestart) => failedRestart !== undefined),
    }
  }
}

async function listLostOf(on: OrgReader, ended: Restart['ended']): Promise<string[]> {
  const lost = await Promise.all(ended.map(({ id: node, endedAt }) => listLostDevices(on, { node, endedAt })))
  return lost.flat().map(({ id }) => id)
}

async function failedRestartOf(on: OrgReader, { at, node, ended }: Restart): Promise<FailedRestart | undefined> {
  if (ended.length === 0) return undefined
  const missing = new Set(await listLostOf(on, ended))
  const nodes = { nodes: ended.map(({ id }) => id), ends: ended.map(({ endedAt }) => endedAt) }
  const connectedBefore = Number((await countDevicesOfNodes(on, nodes))?.count ?? 0)
  if (!isMostMissing(connectedBefore, missing.size)) return undefined
  return { at, connectedBefore, missing, ...(node !== undefined && { node }) }
}
