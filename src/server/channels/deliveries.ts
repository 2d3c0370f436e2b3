// Carries out the operations on deliveries: the list of what was sent, replays, and tests. [contract 10.delivery]

import { setTimeout as sleep } from 'node:timers/promises'
import type { Static } from 'typebox'
import { type Delivery, deliveryStates } from '../../contract/channels/channels.ts'
import { int32 } from '../../contract/shape.ts'
import { parseTime } from '../../contract/time.ts'
import { randomText } from '../auth/token.ts'
import type { AnswerOf, InputOf } from '../context/handlers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { isoTime } from '../core/clock.ts'
import { Failure, invalid, refuseReversed } from '../core/failure.ts'
import { cutPage, logPageSizeOf, pageContext, positionOfPageToken } from '../core/page-token.ts'
import type { Tx } from '../db/handles.ts'
import { titlesOfIncidents } from '../incidents/rules.ts'
import { change } from '../journal/audit/change.ts'
import { auditRef } from '../journal/audit/change-result.ts'
import { incidentOrderKey, openingDelayMs, queueForChannel } from '../journal/outbox/outbox.ts'
import { findUser } from '../people/users/store.ts'
import {
  type DeliveryRow,
  findDelivery,
  listDeliveries,
  listDigests,
  restartDeliveries,
  restartLater,
} from './delivery-log-store.ts'
import { requireChannel } from './rules.ts'

const maxReplayed = 10_000
const latestTime = Number.MAX_SAFE_INTEGER

const testPauseMs = 100

export async function deliveriesList(
  ctx: RequestContext,
  channelId: string,
  { state, from = 0, to = latestTime, pageSize, pageToken = '' }: InputOf<'deliveriesList'>['query'],
): Promise<AnswerOf<'deliveriesList'>> {
  const { id: channel } = await requireChannel(ctx.db, channelId)
  refuseReversed({ from, to })
  const size = logPageSizeOf(pageSize)
  const context = pageContext(ctx, 'deliveries', channel, state ?? '', from, to)
  const before = pageToken === '' ? int32.maximum : positionOfPageToken(ctx.secrets, context, pageToken).seq
  const states = state === undefined ? deliveryStates : [state]
  const rows = await listDeliveries(ctx.db, { channel, states, from, to, before, limit: size + 1 })
  const positionOf = ({ created_at, number }: DeliveryRow) => ({ timestamp: created_at, seq: number })
  const { page, nextPageToken } = cutPage(ctx.secrets, context, rows, size, positionOf)
  const titles = await titlesOfIncidents(ctx, [...new Set(page.flatMap(({ incident_id }) => incident_id ?? []))])
  return { deliveries: page.map((row) => deliveryView(row, titles)), nextPageToken }
}

export const deliveriesReplay = (
  ctx: RequestContext,
  channelId: string,
  { from, to, states = ['GIVEN_UP', 'DELIVERED'] }: InputOf<'deliveriesReplay'>['body'],
) =>
  change(ctx, 'deliveriesReplay', async (tx) => {
    const channel = await requireChannel(tx, channelId)
    const now = ctx.clock.now()
    const window = { from: timeOf('from', from), to: to === undefined ? now : timeOf('to', to) }
    refuseReversed(window)
    const openedBefore = now - openingDelayMs
    const limit = maxReplayed
    const restarted = await restartDeliveries(tx, { channel: channel.id, ...window, states, now, openedBefore, limit })
    const messages = restarted.map(({ message }) => message)
    const digested = (await listDigests(tx, { messages })).flatMap(({ number, data }) =>
      incidentIdsOf(data).map((id) => [incidentOrderKey(id), number] as const),
    )
    const later = await restartLater(tx, { channel: channel.id, messages, digested, now })
    const count = restarted.length + later.length
    return {
      result: { count },
      target: auditRef('channel', channel),
      after: { from: isoTime(window.from), to: isoTime(window.to), states, count },
    }
  })

const incidentIdsOf = (data: string): readonly string[] => JSON.parse(data).digest?.incidentIds ?? []

function timeOf(field: string, text: string): number {
  const at = parseTime(text)
  if (at === undefined) throw invalid([{ field, error: 'must be a time such as 2026-05-04T08:00:00Z' }])
  return at
}

/** Another node may deliver the message, so that its row is looked at until it changes. */
export async function channelsTest(ctx: RequestContext, channelId: string): Promise<Static<typeof Delivery>> {
  const { channel, message } = await change(ctx, 'channelsTest', async (tx) => {
    const row = await requireChannel(tx, channelId)
    if (row.enabled === 0) {
      throw new Failure('FAILED_PRECONDITION', `channel ${channelId} is disabled. Enable it with channelsUpdate first.`)
    }
    // Each test has an order key of its own, so that it does not wait behind an earlier one that failed.
    const orderKey = `test ${randomText(8)}`
    const data = row.kind === 'people' ? { recipient: await testRecipient(ctx, tx) } : {}
    const id = await queueForChannel(tx, row.id, { type: 'test', orderKey, data, at: ctx.clock.now() })
    return { result: { channel: row.id, message: id }, target: auditRef('channel', row), after: { message: id } }
  })
  const endAtMs = performance.now() + ctx.limits.channelTestMs
  for (;;) {
    const row = await findDelivery(ctx.db, { channel, id: message })
    if (!row) throw new Failure('NOT_FOUND', `channel ${channelId} was deleted during the test.`)
    if (row.attempts > 0 || row.state !== 'WAITING' || performance.now() > endAtMs) return deliveryView(row)
    await sleep(testPauseMs)
  }
}

/** A test of a channel to people goes to the person who asks for it. */
async function testRecipient({ user }: RequestContext, tx: Tx): Promise<{ readonly address: string }> {
  const row = user && (await findUser(tx, { id: user.id }))
  if (!row) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'a test of a channel to people goes to the person who asks for it, and this key is not a personal one. Sign in, or use a personal key.',
    )
  }
  return { address: row.email }
}

const deliveryView = (row: DeliveryRow, titles?: ReadonlyMap<number, string>): Static<typeof Delivery> => ({
  id: row.id,
  type: row.type,
  ...incidentOf(row, titles),
  sequence: row.sequence ?? 0,
  state: row.state,
  attempts: row.attempts,
  ...(row.state === 'WAITING' && row.next_at !== null && { nextAt: isoTime(row.next_at) }),
  ...(row.status !== null && { status: row.status }),
  ...(row.error !== null && { error: row.error }),
  createdAt: isoTime(row.created_at),
  ...(row.delivered_at !== null && { deliveredAt: isoTime(row.delivered_at) }),
})

function incidentOf({ incident_id: id }: DeliveryRow, titles?: ReadonlyMap<number, string>) {
  const title = id === null ? undefined : titles?.get(id)
  return title !== undefined && { incident: { id: String(id), title } }
}
