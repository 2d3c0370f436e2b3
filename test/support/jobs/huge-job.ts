// Measures what a job on very many devices costs: how long each request takes, its longest turn of the event loop, and how long a device waits meanwhile.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { dayMs } from '../../../src/contract/durations.ts'
import { maxTargetEndpoints } from '../../../src/contract/jobs/job-request.ts'
import type { DeviceConnection } from '../../../src/server/devices/mqtt/handlers.ts'
import { storeStatus } from '../../../src/server/fleet/endpoints/presence.ts'
import { deleteOldJobs } from '../../../src/server/jobs/retention.ts'
import type { Harness, Reply } from '../harness.ts'
import { longestTurn } from '../longest-turn.ts'
import { until } from '../program.ts'
import { LargeFleet } from './large-fleet.ts'

export interface StepFigures {
  readonly step: string
  readonly ms: number
  /** The CPU time of the longest turn; on SQLite the database is part of it. */
  readonly longestTurnMs: number
  /** The longest time until the status of a connected device was stored. */
  readonly statusWaitMs: number
  /** The longest time until an audited change of something else was answered. */
  readonly changeWaitMs: number
  /** How many such changes were refused, because they had waited for 5 s. */
  readonly refusedChanges: number
}

const statusEveryMs = 20
const changeEveryMs = 200

export class HugeJob {
  readonly figures: StepFigures[] = []
  readonly #harness: Harness
  readonly #fleet: LargeFleet
  readonly #probe: DeviceConnection
  readonly #endpointCount: number

  private constructor(harness: Harness, fleet: LargeFleet, endpointCount: number) {
    this.#harness = harness
    this.#fleet = fleet
    this.#endpointCount = endpointCount
    this.#probe = [...fleet.connections.values()].at(-1) as DeviceConnection
  }

  /** Makes as many rooms with a device each. The devices are offline, so that a job waits for them; one more is connected, and reports. */
  static async make(harness: Harness, endpointCount: number): Promise<HugeJob> {
    const fleet = await LargeFleet.make(harness, { rooms: endpointCount + 1, locations: 100, connected: false })
    const huge = new HugeJob(harness, fleet, endpointCount)
    const { id } = huge.#probe.device
    const values = { node_id: huge.#probe.nodeId, connection: 1, connection_time: harness.clock.now() }
    await fleet.write((db) => db.updateTable('endpoints').set(values).where('id', '=', id).execute())
    harness.services.db.invalidateAll()
    return huge
  }

  /** Goes through the life of a job: every step that touches all of its units. */
  async live(): Promise<void> {
    // The first request of a process also compiles code, which takes a turn of up to 115 ms.
    await this.#call('POST', '/jobs/plan', this.#request())
    if (this.#endpointCount === maxTargetEndpoints) await this.#expectTooMany()
    const first = await this.#measure('jobsCreate, started at once', () => this.#create(true))
    await this.#measure('jobsGet', () => this.#call('GET', `/jobs/${first.id}`))
    const { jobs } = await this.#measure('jobsList by a caller who sees 1 % of the rooms', () => this.#listLimited())
    expect(jobs).toMatchObject([{ id: first.id, unitCount: Math.ceil(this.#endpointCount / 100) }])
    await this.#measure('jobsCancel', () => this.#call('POST', `/jobs/${first.id}/cancel`))
    const draft = await this.#measure('jobsCreate, a draft', () => this.#create(false))
    await this.#measure('jobsStart of the draft', () => this.#call('POST', `/jobs/${draft.id}/start`))
    await this.#measure('the deadline, until all rooms are EXPIRED', async () => {
      this.#harness.clock.advance(15 * dayMs)
      return this.#once(draft.id, ({ state }) => state === 'INCOMPLETE')
    })
    const retried = await this.#measure('jobsRetry', () => this.#call('POST', `/jobs/${draft.id}/retry`))
    expect(retried.counts.PENDING + (retried.counts.WAITING ?? 0)).toBe(this.#endpointCount)
    await this.#measure('the rollback of all rooms, of which none was changed', async () => {
      await this.#call('POST', `/jobs/${draft.id}/roll_back`)
      return this.#once(draft.id, ({ state }) => state === 'ROLLED_BACK')
    })
    await this.#measure('the deletion of both jobs after 400 days', async () => {
      this.#harness.clock.advance(401 * dayMs)
      await deleteOldJobs(this.#harness.services, new AbortController().signal)
    })
    expect((await this.#fleet.org.call('GET', '/jobs')).body.jobs).toEqual([])
  }

  print(): void {
    const rows = this.figures.map(({ step, ms, longestTurnMs, statusWaitMs, changeWaitMs, refusedChanges }) => {
      const numbers = [ms, longestTurnMs, statusWaitMs, changeWaitMs].map((value) => `${value.toFixed(0)} ms`)
      return `| ${step} | ${numbers.join(' | ')} | ${refusedChanges} |`
    })
    process.stdout.write(`${this.#endpointCount} endpoints\n${rows.join('\n')}\n`)
  }

  /** With the device that reports it is one more than a job may have. */
  async #expectTooMany(): Promise<void> {
    const body = { ...this.#request(), target: { models: ['NF19B1'] } }
    const reply = await this.#fleet.org.call('POST', '/jobs/plan', { body })
    expect([reply.status, reply.body.message]).toEqual([400, expect.stringContaining('more than')])
  }

  /** One of the hundred locations is in a region, and the caller sees only that one. */
  async #listLimited(): Promise<Reply['body']> {
    const { org, write } = this.#fleet
    const { id } = (await org.call('POST', '/regions', { body: { name: 'Europe' } })).body
    await write((db) => db.updateTable('locations').set({ region_id: id }).where('id', '=', 1).execute())
    const key = await org.newKey({ scopes: ['read'], regionIds: [id] })
    return (await org.call('GET', '/jobs', { key })).body
  }

  #request() {
    return {
      name: 'Night mode',
      target: { models: ['NF19B1'], exclude: { endpointIds: [this.#probe.device.id] } },
      action: { type: 'CONFIG', config: { nightMode: true } },
    }
  }

  async #create(start: boolean): Promise<Reply['body']> {
    const job = await this.#call('POST', '/jobs', { ...this.#request(), start })
    expect(job).toMatchObject({ unitCount: this.#endpointCount, endpointCount: this.#endpointCount })
    return job
  }

  async #call(method: string, path: string, body?: object): Promise<Reply['body']> {
    const reply = await this.#fleet.org.call(method, path, { ...(body && { body }) })
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }

  #once(id: string, isSo: (job: Reply['body']) => boolean): Promise<unknown> {
    const read = async () => isSo((await this.#fleet.org.call('GET', `/jobs/${id}`)).body)
    return until('the job is so', read, { everyMs: 200, timeoutMs: 300_000 })
  }

  async #measure<T>(step: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    let [ms, result] = [0, undefined as T | undefined]
    let isRunning = true
    /** Does something again and again, and returns the longest time that it took. */
    const repeat = async (everyMs: number, act: (i: number) => Promise<unknown>) => {
      let longestMs = 0
      for (let i = 0; isRunning; i++) {
        const at = performance.now()
        await act(i)
        longestMs = Math.max(longestMs, performance.now() - at)
        await pause(everyMs)
      }
      return longestMs
    }
    const report = (i: number) =>
      storeStatus(this.#harness.services, this.#probe, { inCallStatus: i % 2 === 0 ? 'ZOOM' : 'NONE' })
    let refusedChanges = 0
    const rename = async (i: number) => {
      const body = { name: `Site ${i}`, timezone: 'UTC' }
      const { status } = await this.#fleet.org.call('PUT', '/locations/2', { body })
      if (status === 409) refusedChanges++
    }
    let others: Promise<number[]> = Promise.resolve([])
    const longestTurnMs = await longestTurn(async () => {
      others = Promise.all([repeat(statusEveryMs, report), repeat(changeEveryMs, rename)])
      try {
        result = await work()
        ms = performance.now() - began
      } finally {
        isRunning = false
        await others
      }
    })
    const [statusWaitMs = 0, changeWaitMs = 0] = await others
    this.figures.push({ step, ms, longestTurnMs, statusWaitMs, changeWaitMs, refusedChanges })
    return result as T
  }
}
