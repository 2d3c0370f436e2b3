// Channels and messages for tests of their delivery, written as rows: tests of the operations are elsewhere.
import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { ChannelKind } from '../../../src/contract/channels/channels.ts'
import type { MessageType } from '../../../src/contract/channels/messages.ts'
import {
  type ChannelSecrets,
  type ChannelSettings,
  defaultChannelSettings,
  makeSigningSecret,
  sealChannelSecrets,
} from '../../../src/server/channels/settings.ts'
import type { DatabaseSchema } from '../../../src/server/db/schema/schema.ts'
import type { Harness, TestOrg } from '../harness.ts'

/** The part of a harness that has a database. */
export type ChannelHarness = Pick<Harness, 'services' | 'clock'>

export interface NewChannel {
  readonly kind?: ChannelKind
  readonly settings?: Partial<ChannelSettings>
  readonly secrets?: ChannelSecrets
}

let count = 100

export const testSigningSecret = makeSigningSecret()

/** Returns the id of the channel. */
export async function newChannel(
  { services: { db, secrets }, clock }: ChannelHarness,
  { org }: Pick<TestOrg, 'org'>,
  { kind = 'webhook', settings = {}, secrets: plain = {} }: NewChannel,
): Promise<number> {
  const id = ++count
  const signing = [{ secret: testSigningSecret }]
  const sealed = sealChannelSecrets(secrets, { org: org.key, id }, { signing, ...plain })
  await db.systemTransaction(({ kysely }) =>
    kysely
      .insertInto('channels')
      .values({
        org: org.key,
        id,
        version: 1,
        name: `Channel ${id}`,
        kind,
        enabled: 1,
        disabled_reason: null,
        settings: JSON.stringify({ ...defaultChannelSettings, ...settings }),
        secrets: sealed,
        created_at: clock.now(),
        delivered_at: null,
        failing_since: null,
        last_error: null,
        heartbeat_at: null,
      })
      .execute(),
  )
  return id
}

export interface NewMessageRow {
  readonly type?: MessageType
  readonly subject: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly incidentId?: number
  /** Milliseconds until the first attempt. */
  readonly delayMs?: number
}

/** Writes messages for a channel, in one commit with what `alongside` writes, and returns their ids. */
export async function newMessages(
  { services: { db }, clock }: ChannelHarness,
  { org }: Pick<TestOrg, 'org'>,
  channelId: number,
  messages: readonly NewMessageRow[],
  alongside: (kysely: Kysely<DatabaseSchema>) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const now = clock.now()
  return db.systemTransaction(async ({ kysely }) => {
    const ids: string[] = []
    for (const { type = 'incident.changed', subject, data = {}, incidentId = null, delayMs = 0 } of messages) {
      const id = `msg_${randomUUID()}`
      const row = {
        org: org.key,
        id,
        type,
        order_key: subject,
        incident_id: incidentId,
        data: JSON.stringify(data),
        created_at: now,
      }
      const { number } = await kysely.insertInto('messages').values(row).returning('number').executeTakeFirstOrThrow()
      const waiting = { state: 'WAITING', next_at: now + delayMs, status: null, error: null } as const
      await kysely
        .insertInto('deliveries')
        .values({
          org: org.key,
          channel_id: channelId,
          message: number,
          sequence: null,
          delivered_at: null,
          ...waiting,
        })
        .execute()
      ids.push(id)
    }
    await alongside(kysely)
    return ids
  })
}

/** The deliveries of a channel, oldest first, each with the message as it was sent or, before that, as it was written. */
export const listDeliveryRows = ({ services: { db } }: ChannelHarness, channelId: number) =>
  db.system.kysely
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select(['d.org', 'd.channel_id', 'd.message', 'd.sequence', 'd.state', 'd.attempts', 'd.next_at'])
    .select(['d.status', 'd.error', 'd.delivered_at', 'd.replayed_at'])
    .select(['m.id', 'm.order_key as subject'])
    .select((e) => [e.fn.coalesce('d.type', 'm.type').as('type'), e.fn.coalesce('d.data', 'm.data').as('data')])
    .where('d.channel_id', '=', channelId)
    .orderBy('d.message')
    .execute()

export const findChannelRow = ({ services: { db } }: ChannelHarness, channelId: number) =>
  db.system.kysely.selectFrom('channels').selectAll().where('id', '=', channelId).executeTakeFirstOrThrow()
