// The only door to a writing transaction: it takes the audit entry with it. [contract 5.4.audit]

import { deviceChanges } from '../../../contract/device.ts'
import type { AuditCategory, Operation } from '../../../contract/operation.ts'
import { type AuditedId, operations } from '../../../contract/operations.ts'
import type { Org } from '../../auth/keyring.ts'
import type { Actor, RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import type { Tx } from '../../db/handles.ts'
import type { SystemTx } from '../../db/system.ts'
import type { EventDraft } from '../../events/draft.ts'
import { entryMac, firstMac } from './chain.ts'
import { changeEventDrafts } from './change-event.ts'
import { type HeadRow, insertEntry, insertHead, lockHead, updateHead } from './store.ts'

/** Something that an entry points at. */
export interface AuditRef {
  readonly type: string
  readonly id: string
  readonly name: string
}
export const auditRef = (type: string, { id, name }: { id: number | string; name: string }): AuditRef => ({
  type,
  id: String(id),
  name,
})

/** What a piece of work gives back: its result, and what the entry says about it. */
export interface Changed<T> {
  readonly result: T
  readonly target: AuditRef
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
  readonly affected?: readonly AuditRef[]
  /** The call undid what its operation is named for. */
  readonly undone?: boolean
}

interface Kind {
  readonly category: AuditCategory
  readonly type: string
  readonly undoType?: string
}

/** Runs the work in a transaction and writes its audit entry in the same one: both happen, or neither. */
export async function change<T>(
  ctx: RequestContext,
  operation: ChangeId,
  work: (tx: Tx) => Promise<Changed<T>>,
): Promise<T> {
  const kind = kindOf(operation)
  const { db, events } = ctx
  let tell: (drafts: () => readonly EventDraft[]) => void = () => {}
  try {
    const { drafts, result } = await db.transaction(async (tx) => {
      const head = await lockHead(tx)
      if (!head) throw new Error(`organisation ${ctx.org.id} has no audit head`)
      // A try before this one came to nothing.
      tell(nothing)
      tell = events.reserveTurn()
      const changed = await work(tx)
      const entry = await append(tx, ctx, head, kind, changed)
      return { result: changed.result, drafts: await changeEventDrafts(tx, ctx, entry, changed) }
    })
    tell(drafts)
    return result
  } catch (error) {
    tell(nothing)
    throw error
  }
}

const nothing = () => []

/** What the API cannot do, only a command. */
const commandChanges = {
  orgCreate: { category: 'ORG', type: 'ORG_CREATED' },
  orgTimezone: { category: 'ORG', type: 'ORG_UPDATED' },
} as const

/** Who comes into the console, and goes. [contract 9.session] [contract 9.link] */
const consoleChanges = {
  sessionStart: { category: 'USER', type: 'SESSION_STARTED' },
  sessionEnd: { category: 'USER', type: 'SESSION_ENDED' },
  loginLinkCreate: { category: 'USER', type: 'LOGIN_LINK_CREATED' },
} as const

const otherChanges: Readonly<Record<string, Kind>> = { ...deviceChanges, ...commandChanges, ...consoleChanges }

/** An operation of the API that writes, something that a device does by itself, a command, or the console's door. */
export type ChangeId =
  | AuditedId
  | keyof typeof deviceChanges
  | keyof typeof commandChanges
  | keyof typeof consoleChanges

const kindOf = (id: ChangeId): Kind => otherChanges[id] ?? ((operations[id as AuditedId] as Operation).audit as Kind)

/** Creates an organisation: the work inserts it, and its log starts with that entry. */
export function changeNewOrg(
  { db, secrets, clock }: Services,
  actor: Actor,
  work: (tx: SystemTx) => Promise<Changed<Org>>,
): Promise<Org> {
  return db.systemTransaction(async (systemTx) => {
    const changed = await work(systemTx)
    const org = changed.result
    const tx = systemTx.forOrg(org.key)
    const head = { count: 0, mac: firstMac(secrets, org.id), timestamp: 0 }
    await insertHead(tx, head)
    await append(tx, { secrets, clock, actor, requestId: undefined, ip: undefined }, head, kindOf('orgCreate'), changed)
    return org
  })
}

type Author = Pick<RequestContext, 'secrets' | 'clock' | 'actor' | 'requestId' | 'ip'>

async function append(tx: Tx, ctx: Author, head: Omit<HeadRow, 'org'>, kind: Kind, changed: Changed<unknown>) {
  const { target, before, after, affected } = changed
  const entry = {
    seq: head.count + 1,
    // Never backwards, also when the clock is. [contract D.8]
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
    }),
    request_id: ctx.requestId ?? null,
    ip: ctx.ip ?? null,
  }
  const mac = entryMac(ctx.secrets, head.mac, entry)
  await insertEntry(tx, { ...entry, mac })
  await updateHead(tx, { count: entry.seq, mac, timestamp: entry.timestamp })
  return entry
}
