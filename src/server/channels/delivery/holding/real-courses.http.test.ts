// A few generated courses through the real delivery and a real receiver; courses.test.ts has thousands without a database. [contract 10.delivery]
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  findChannelRow,
  listDeliveryRows,
  newChannel,
  newMessages,
} from '../../../../../test/support/channels/channel-rows.ts'
import { Receiver } from '../../../../../test/support/channels/receiver.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { newIncident } from '../../../../../test/support/incidents.ts'
import { until } from '../../../../../test/support/program.ts'
import type { ChannelEvent } from '../../../../contract/channels/messages.ts'
import { defaultChannelEvents } from '../../../../contract/channels/messages.ts'
import { dayMs, minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const step = fc.oneof(
  fc.record({ kind: fc.constant('open' as const), count: fc.constantFrom(1, 2, 22), isCritical: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('resolve', 'reopen', 'acknowledge'), which: fc.nat(30) }),
  fc.record({ kind: fc.constantFrom('fail', 'work', 'replay') }),
  fc.record({ kind: fc.constant('pass' as const), minutes: fc.constantFrom(0.5, 1, 2, 5, 11) }),
)
const course = fc.array(step, { minLength: 8, maxLength: 14, size: 'max' })

/** One channel with its receiver, and the incidents that it is told about. */
class RealCourse {
  readonly #receiver: Receiver
  readonly #channel: number
  readonly #startedAt = harness.clock.now()
  readonly #isOpen = new Map<string, boolean>()

  private constructor(receiver: Receiver, channel: number) {
    this.#receiver = receiver
    this.#channel = channel
  }

  static async start(): Promise<RealCourse> {
    const receiver = await Receiver.start()
    return new RealCourse(receiver, await newChannel(harness, org, { secrets: { url: receiver.url } }))
  }

  async take(given: typeof step extends fc.Arbitrary<infer S> ? S : never): Promise<void> {
    if (given.kind === 'fail') this.#receiver.answer = () => ({ status: 503 })
    if (given.kind === 'work') this.#receiver.answer = () => ({ status: 204 })
    if (given.kind === 'replay') await this.#replay()
    if ('count' in given) for (let n = 0; n < given.count; n++) await this.#open(given.isCritical)
    if ('minutes' in given) harness.clock.advance(given.minutes * minuteMs)
    const ids = [...this.#isOpen.keys()]
    const id = 'which' in given ? ids[given.which % ids.length] : undefined
    if (id !== undefined) await this.#change(id, given.kind, this.#isOpen.get(id) === true)
    await this.#settle()
  }

  async finish(): Promise<void> {
    this.#receiver.answer = () => ({ status: 204 })
    harness.clock.advance(2 * dayMs)
    await this.#settle()
    harness.clock.advance(minuteMs)
    await until('nothing waits', async () =>
      (await listDeliveryRows(harness, this.#channel)).every(({ state }) => state !== 'WAITING'),
    )
    const believed = new Set<string>()
    const heard = new Set<string>()
    for (const { type, data } of this.#receiver.accepted) {
      const ids: string[] = data.digest?.incidentIds ?? [data.incident.id]
      for (const id of ids) {
        if (!heard.has(id)) expect(['incident.opened', 'incident.digest']).toContain(type)
        heard.add(id)
        if (type === 'incident.resolved') believed.delete(id)
        else believed.add(id)
      }
    }
    const truth = [...this.#isOpen].filter(([, isOpen]) => isOpen).map(([id]) => id)
    expect([...believed].sort()).toEqual(truth.sort())
  }

  async #open(isCritical: boolean): Promise<void> {
    const severity = isCritical ? 'CRITICAL' : 'WARNING'
    const id = await newIncident(harness, org, { openedAt: harness.clock.now(), severity })
    this.#isOpen.set(id, true)
    await this.#tell(id, 'incident.opened')
  }

  async #change(id: string, kind: string, isOpen: boolean): Promise<void> {
    const at = harness.clock.now()
    if (kind === 'resolve' && isOpen) {
      await this.#update(id, { state: 'RESOLVED', resolved_at: at, updated_at: at }, 'incident.resolved')
      this.#isOpen.set(id, false)
    }
    if (kind === 'reopen' && !isOpen) {
      await this.#update(id, { state: 'OPEN', resolved_at: null, updated_at: at }, 'incident.reopened')
      this.#isOpen.set(id, true)
    }
    if (kind === 'acknowledge' && isOpen) {
      await this.#update(id, { state: 'ACKNOWLEDGED', updated_at: at }, 'incident.acknowledged')
    }
  }

  /** The engine does both in one commit. Here the delivery may see the change before its message, which must not matter. */
  async #update(id: string, values: object, type: ChannelEvent): Promise<void> {
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely.updateTable('incidents').set(values).where('org', '=', org.org.key).where('id', '=', Number(id)).execute(),
    )
    await this.#tell(id, type)
  }

  async #tell(id: string, type: ChannelEvent): Promise<void> {
    if (!defaultChannelEvents.some((event) => event === type)) return
    const delayMs = type === 'incident.opened' ? minuteMs : 0
    const message = { type, subject: `incident ${id}`, incidentId: Number(id), data: { incident: { id } }, delayMs }
    await newMessages(harness, org, this.#channel, [message])
  }

  async #replay(): Promise<void> {
    const [from, to] = [this.#startedAt, this.#startedAt + 5 * minuteMs].map((at) => new Date(at).toISOString())
    await org.call('POST', `/channels/${this.#channel}/replay`, { body: { from, to } })
  }

  /** Returns when everything that was due is sent, or waits for its next attempt. */
  async #settle(): Promise<void> {
    await until('nothing is due', async () => {
      const rows = await listDeliveryRows(harness, this.#channel)
      const isDisabled = (await findChannelRow(harness, this.#channel)).enabled === 0
      return (
        isDisabled || rows.every(({ state, next_at }) => state !== 'WAITING' || (next_at ?? 0) > harness.clock.now())
      )
    })
  }
}

test('after a course through the real delivery a real receiver believes what is true', {
  timeout: 120_000,
}, async () => {
  harness.clock.fix(harness.clock.now())
  await fc.assert(
    fc.asyncProperty(course, async (steps) => {
      const real = await RealCourse.start()
      for (const given of steps) await real.take(given)
      await real.finish()
    }),
    { numRuns: 6 },
  )
})
