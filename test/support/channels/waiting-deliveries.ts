// An organisation with messages that wait for a disabled channel, and what a test asks and writes about their deliveries.
import type { DeliveryState } from '../../../src/contract/channels/channels.ts'
import { queueMessages } from '../../../src/server/journal/outbox/outbox.ts'
import type { Harness, TestOrg } from '../harness.ts'

export const noon = Date.UTC(2026, 2, 2, 12)

/** Nothing listens there, and a message for a disabled channel is not sent. */
export const silentWebhook = { name: 'Operations', kind: 'webhook', url: 'http://127.0.0.1:9/', enabled: false }

/** The harness is asked for when it is needed, because it starts after the tests of a file are declared. */
export function waitingDeliveries(harnessOf: () => Harness) {
  const rows = () => harnessOf().services.db.system.kysely

  /** An organisation with a disabled channel, for which `count` messages wait, one a second from noon on. */
  async function orgWithMessages(count: number): Promise<TestOrg> {
    const org = await harnessOf().newOrg()
    await org.call('POST', '/channels', { body: silentWebhook })
    await harnessOf()
      .services.db.forOrg(org.org.key)
      .telemetry(async (tx) => {
        const draft = {
          type: 'incident.resolved',
          severity: 'WARNING',
          regionIds: [],
          locationIds: [],
          data: {},
        } as const
        const drafts = Array.from({ length: count }, (_, i) => ({
          ...draft,
          orderKey: `incident ${i}`,
          at: noon + i * 1000,
        }))
        await queueMessages(tx, drafts)
      })
    return org
  }

  const numbersOf = async ({ org }: TestOrg) =>
    (
      await rows().selectFrom('deliveries').select('message').where('org', '=', org.key).orderBy('message').execute()
    ).map(({ message }) => message)

  /** Writes what became of a delivery, as its attempt would. */
  const finish = async (org: TestOrg, position: number, state: DeliveryState, sequence: number) => {
    const message = (await numbersOf(org))[position] as number
    const failed = { status: 500, error: 'status 500' }
    const outcome = state === 'DELIVERED' ? { status: 204, delivered_at: noon + 9000 } : failed
    await harnessOf().services.db.systemTransaction(async ({ kysely }) => {
      await kysely
        .updateTable('deliveries')
        .set({ state, sequence, attempts: 3, next_at: null, ...outcome })
        .where('org', '=', org.org.key)
        .where('message', '=', message)
        .execute()
    })
  }
  const list = async (org: TestOrg, query = '') => (await org.call('GET', `/channels/1/deliveries${query}`)).body

  /** The time so many seconds after noon. */
  const at = (seconds: number) => new Date(noon + seconds * 1000).toISOString()

  return { rows, orgWithMessages, numbersOf, finish, list, at }
}
