// Opens audited transactions: every change is committed together with its audit entry. [contract 5.4.audit]

import { type OtherChangeId, otherChanges } from '../../../contract/journal/other-changes.ts'
import type { AuditCategory, Operation } from '../../../contract/operation.ts'
import { type AuditedId, operations } from '../../../contract/operations.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { Actor, RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import type { Tx } from '../../db/handles.ts'
import type { AuditHead } from '../../db/moved-heads.ts'
import type { SystemTx } from '../../db/system.ts'
import { requireUnusedKey, storeKey } from '../idempotency/rules.ts'
import { listOrgs } from '../orgs/store.ts'
import { areMessagesWanted, type MessageDraft, queueMessages } from '../outbox/outbox.ts'
import { entryMac, firstMac } from './chain.ts'
import { changeEventDrafts } from './change-event.ts'
import type { ChangeResult } from './change-result.ts'
import { type ChangedPlaces, findChangedPlaces } from './changed-places.ts'
import { insertEntry, insertHead, lockHead, updateHead } from './store.ts'
import { entryView, type ShownEntry } from './view.ts'

interface EntryKind {
  readonly category: AuditCategory
  readonly type: string
  readonly undoType?: string
}

/**
 * Runs the work and writes its audit entry in one transaction, so that both are committed or neither is. On PostgreSQL every other audited
 * change of the organisation waits while the work runs. A part of it that takes seconds is `prepare`, which runs before: it may lock only rows
 * for which no other change waits while it runs its work.
 */
export async function change<T, P = undefined>(
  ctx: RequestContext,
  operation: ChangeId,
  work: (tx: Tx, prepared: P) => Promise<ChangeResult<T>>,
  prepare?: (tx: Tx) => Promise<P>,
): Promise<T> {
  const kind = kindOf(operation)
  const { db, events } = ctx
  // A request makes further changes under other names, and its key belongs to the change of its operation.
  const keyed = ctx.keyed?.operation === operation ? ctx.keyed : undefined
  const { makeDrafts, changed } = await db.transaction(
    async (tx) => {
      const prepared = (await prepare?.(tx)) as P
      const head = await takeHead(tx, ctx.org)
      const place = keyed && (await requireUnusedKey(tx, ctx, keyed))
      const changed = await work(tx, prepared)
      const places = await findChangedPlaces(tx, changed)
      const entry = await appendEntry(tx, ctx, head, kind, changed, places)
      if (keyed && place) await storeKey(tx, ctx, keyed, place, { entry: entry.seq, answer: changed.result })
      return { changed, makeDrafts: () => changeEventDrafts(tx, entry, changed, places) }
    },
    { isPrepared: prepare !== undefined },
  )
  // Two commits may be confirmed in another order than they were made: the feed orders events by their audit numbers.
  if (events.isFollowed()) events.publish(makeDrafts())
  changed.afterCommit?.()
  return changed.result
}

/** A change is an operation of the API, an action of a device, a command, a sign-in or sign-out of the console, or a step of a job. */
export type ChangeId = AuditedId | OtherChangeId

const otherKinds: Readonly<Record<string, EntryKind>> = otherChanges

const kindOf = (id: ChangeId): EntryKind =>
  otherKinds[id] ?? ((operations[id as AuditedId] as Operation).audit as EntryKind)

/** Creates an organisation. The work inserts it, and the audit log of the organisation starts with that entry. */
export function changeNewOrg(
  { db, secrets, clock }: Services,
  actor: Actor,
  work: (tx: SystemTx) => Promise<ChangeResult<Org>>,
): Promise<Org> {
  return db.systemTransaction(async (systemTx) => {
    const changed = await work(systemTx)
    const org = changed.result
    const tx = systemTx.forOrg(org.key)
    const head = { count: 0, mac: firstMac(secrets, org.id), timestamp: 0 }
    await insertHead(tx, head)
    const places = await findChangedPlaces(tx, changed)
    await appendEntry(
      tx,
      { secrets, clock, actor, requestId: undefined, ip: undefined },
      head,
      kindOf('orgCreate'),
      changed,
      places,
    )
    return org
  })
}

/** Makes a change that concerns every organisation: the log of each gets the entry, in one transaction. */
export function changeInAllOrgs(
  { db, secrets, clock }: Services,
  actor: Actor,
  operation: ChangeId,
  work: (tx: SystemTx) => Promise<ChangeResult<void>>,
): Promise<void> {
  return db.systemTransaction(async (systemTx) => {
    const changed = await work(systemTx)
    // The heads are locked in the order of their keys, so that two such changes do not wait for each other.
    for (const { key, id } of await listOrgs(systemTx)) {
      const tx = systemTx.forOrg(key)
      const head = await takeHead(tx, { id })
      await appendEntry(
        tx,
        { secrets, clock, actor, requestId: undefined, ip: undefined },
        head,
        kindOf(operation),
        changed,
        await findChangedPlaces(tx, changed),
      )
    }
  })
}

/** The head as an earlier work of the same commit has moved it, or else as it is stored. Other transactions wait for it until the commit. */
async function takeHead(tx: Tx, org: Pick<Org, 'id'>): Promise<AuditHead> {
  const head = tx.heads.find(tx.org) ?? (await lockHead(tx))
  if (!head) throw new Error(`organisation ${org.id} has no audit head`)
  tx.wantedMessages = head.wanted_messages
  return head
}

type EntryContext = Pick<RequestContext, 'secrets' | 'clock' | 'actor' | 'requestId' | 'ip'>

async function appendEntry(
  tx: Tx,
  ctx: EntryContext,
  head: Pick<AuditHead, 'count' | 'mac' | 'timestamp'>,
  kind: EntryKind,
  changed: ChangeResult<unknown>,
  places: ChangedPlaces,
) {
  const { regions } = places
  const { target, before, after, affected, jobId } = changed
  const entry = {
    seq: head.count + 1,
    // Timestamps never decrease, even when the clock is set back. [contract D.8]
    timestamp: Math.max(ctx.clock.now(), head.timestamp),
    category: kind.category,
    type: (changed.undone && kind.undoType) || kind.type,
    actor_type: ctx.actor.type,
    actor_id: ctx.actor.id,
    actor_name: ctx.actor.name,
    target_type: target.type,
    target_id: target.id,
    target_name: target.name,
    details: JSON.stringify({
      ...(before && { before }),
      ...(after && { after }),
      ...(affected?.length && { affected }),
      ...(jobId !== undefined && { jobId: String(jobId) }),
    }),
    request_id: ctx.requestId ?? null,
    ip: ctx.ip ?? null,
    regions: JSON.stringify(regions),
  }
  const mac = entryMac(ctx.secrets, head.mac, entry)
  await insertEntry(tx, { ...entry, mac })
  const moved = { count: entry.seq, mac, timestamp: entry.timestamp }
  tx.heads.add({
    org: tx.org,
    head: { ...moved, wanted_messages: tx.wantedMessages },
    write: () => updateHead(tx, moved),
  })
  tx.entryNumber = entry.seq
  if (await areMessagesWanted(tx, ['audit.entry']))
    await queueMessages(tx, [entryDraft(entry, places, ctx.clock.now())])
  return entry
}

/**
 * A channel that is limited to places is told about changes that name them. [contract 10.channel] The message has the time of the clock, and
 * the entry in it its own: after the clock was set back, entries are ahead of it.
 */
function entryDraft(entry: ShownEntry, { regions, places }: ChangedPlaces, at: number): MessageDraft {
  const orNone = <T>(ids: readonly T[]) => (ids.length > 0 ? ids : [null])
  return {
    type: 'audit.entry',
    orderKey: `entry ${entry.seq}`,
    at,
    regionIds: orNone(regions.all),
    locationIds: orNone(places.locations),
    data: { entry: entryView(entry) },
  }
}
