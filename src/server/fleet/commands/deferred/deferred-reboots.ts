// Makes attempts of the reboots that wait when their rooms allow it, and checks the rooms again right before each is sent. [contract 12.when]

import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { commandDeadlineMs } from '../../../../contract/fleet/commands.ts'
import type { Services } from '../../../context/services.ts'
import type { TelemetryTx } from '../../../db/handles.ts'
import type { DeviceConnection } from '../../../devices/mqtt/handlers.ts'
import { queueFinishedCommands } from '../../endpoints/endpoint-messages.ts'
import type { UseTimes } from '../../rooms/use/room-use.ts'
import type { CommandRow } from '../store.ts'
import { commandEventDraft, commandView } from '../view.ts'
import { decideGroup, type GroupDecision, type WaitingReboot } from './decide.ts'
import {
  type DeferredRow,
  deleteUnsentAttempts,
  insertAttempt,
  listDeferredAfter,
  listDeferredGroup,
  updateToSkipped,
  updateWaitsFor,
} from './deferred-store.ts'
import { type GroupTime, readReadiness } from './readiness.ts'

/** Rows are read and written in pages, so SQLite does not hold the event loop for long. */
const rowsPerPage = 500
/** With 10,000 reboots that wait, each is checked every 5 seconds. */
const pagesPerRun = 5

/** Checks every second some of the reboots that wait, in the order of their groups, and starts again after the last. */
export class DeferredReboots {
  /** The last group that was checked, by organisation. It only divides the work between runs, so a restart can lose it. */
  readonly #lastGroup = new Map<number, string>()

  async run(services: Services, org: { readonly key: number }): Promise<void> {
    for (let page = 0; page < pagesPerRun; page++) {
      await this.#runPage(services, org)
      if (!this.#lastGroup.has(org.key)) return
      await nextTurn()
    }
  }

  async #runPage(
    { db, clock, feed, devices, settings, reconnects }: Services,
    org: { readonly key: number },
  ): Promise<void> {
    const now = clock.now()
    const reader = db.forOrg(org.key)
    const rows = await this.#listNext(reader, org.key, now)
    if (rows.length === 0) return
    const groups = Map.groupBy(rows, (row) => row.group_id ?? row.id)
    const times = [...groups].map(([groupId, members]): GroupTime => ({ groupId, time: timeOf(members) }))
    const readiness = await readReadiness(reader, times, { now, idleMs: settings.idleMs, presence: reconnects.current })
    const decisions = times.map((group) =>
      decideGroup(group.groupId, (groups.get(group.groupId) ?? []).map(waitingReboot), readiness(group), now),
    )
    const writes = collectWrites(decisions, new Map(rows.map((row) => [row.id, row])))
    if (!writes) return
    const { changed, attempted } = await reader.telemetry((tx) => applyWrites(tx, writes, now))
    feed.forOrg(org.key).publish(changed.map((row) => commandEventDraft(commandView(row))))
    devices.wake(attempted.map((row) => row.endpoint_id))
  }

  async #listNext(reader: Parameters<typeof listDeferredAfter>[0], org: number, now: number): Promise<DeferredRow[]> {
    const after = this.#lastGroup.get(org) ?? ''
    const rows = await listDeferredAfter(reader, { after, now, limit: rowsPerPage })
    if (rows.length < rowsPerPage) {
      this.#lastGroup.delete(org)
      return rows
    }
    // The last group can continue on the next page, so it waits for the next run, unless it fills the page alone.
    const last = rows.at(-1)?.group_id ?? ''
    const whole = rows.filter((row) => row.group_id !== last)
    this.#lastGroup.set(org, whole.at(-1)?.group_id ?? last)
    return whole.length > 0 ? whole : listDeferredGroup(reader, { group: last, now })
  }
}

const timeOf = (members: readonly DeferredRow[]) => members[0]?.reboot_time ?? 'idle'

const waitingReboot = (row: DeferredRow): WaitingReboot => ({
  id: row.id,
  isConnected: Boolean(row.connected),
  isAttempted: Boolean(row.attempted),
  // See updateWaitsAgain.
  refusedAt: row.told_at,
  waitsFor: row.waits_for,
})

interface Writes {
  readonly attempted: readonly string[]
  readonly skipped: readonly string[]
  /** Reboots whose `waits_for` changes, by its new value. */
  readonly waiting: ReadonlyMap<GroupDecision['waitsFor'], readonly string[]>
}

/** Returns undefined if nothing changes, which is so in most runs. */
function collectWrites(
  decisions: readonly GroupDecision[],
  rows: ReadonlyMap<string, DeferredRow>,
): Writes | undefined {
  const attempted = decisions.flatMap((decision) => decision.attempted)
  const skipped = decisions.flatMap((decision) => decision.skipped)
  const changes = decisions.flatMap(({ waiting, waitsFor }) =>
    waiting.filter((id) => rows.get(id)?.waits_for !== waitsFor).map((id) => ({ id, waitsFor })),
  )
  if (attempted.length + skipped.length + changes.length === 0) return undefined
  const waiting = new Map(
    [...Map.groupBy(changes, ({ waitsFor }) => waitsFor)].map(([waitsFor, items]) => [
      waitsFor,
      items.map(({ id }) => id),
    ]),
  )
  return { attempted, skipped, waiting }
}

async function applyWrites(tx: TelemetryTx, { attempted, skipped, waiting }: Writes, now: number) {
  const changed: CommandRow[] = []
  for (const [waitsFor, ids] of waiting) changed.push(...(await updateWaitsFor(tx, { ids, waitsFor })))
  if (skipped.length > 0) {
    const rows = await updateToSkipped(tx, { ids: skipped, at: now })
    await queueFinishedCommands(tx, rows.map(commandView))
    changed.push(...rows)
  }
  const started = attempted.length > 0 ? await updateWaitsFor(tx, { ids: attempted, waitsFor: null }) : []
  for (const row of started) {
    await insertAttempt(tx, {
      id: randomUUID(),
      attemptOf: row.id,
      endpoint: row.endpoint_id,
      group: row.group_id ?? row.id,
      time: row.reboot_time ?? 'idle',
      at: now,
      // The device must not start after the deadline of the reboot. An attempt that expires lets it wait again.
      deadline: Math.min(now + commandDeadlineMs, row.deadline),
    })
  }
  return { changed: [...changed, ...started], attempted: started }
}

/**
 * Returns the ids of attempts that must not be sent now. Attempts that were not sent before are deleted if their rooms no longer allow
 * them. Before the first status of a connection nothing is sent, because a call can have started while the device was away.
 */
export async function holdBackAttempts(
  tx: TelemetryTx,
  rows: readonly CommandRow[],
  { hasReportedStatus }: Pick<DeviceConnection, 'hasReportedStatus'>,
  times: UseTimes,
): Promise<ReadonlySet<string>> {
  const attempts = rows.filter((row) => row.attempt_of !== null)
  if (attempts.length === 0) return new Set()
  if (!hasReportedStatus) return new Set(attempts.map(({ id }) => id))
  const groupOf = (row: CommandRow): GroupTime => ({ groupId: row.group_id ?? '', time: row.reboot_time ?? 'idle' })
  const readiness = await readReadiness(tx, attempts.map(groupOf), times)
  const held = attempts.filter((row) => {
    const { isIdle, isInWindow } = readiness(groupOf(row))
    return !isIdle || !isInWindow
  })
  const ids = held.map(({ id }) => id)
  if (ids.length > 0) await deleteUnsentAttempts(tx, { ids })
  return new Set(ids)
}
