// A staged job on many rooms of which a tenth reject it: where it stops, and that everything it touched returns. [contract 12.rollback]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SeededChoices } from '../../../../test/support/endurance/random.ts'
import { type Harness, quickTasks, type Reply, startHarness } from '../../../../test/support/harness.ts'
import { newJob } from '../../../../test/support/jobs/job-devices.ts'
import { LargeFleet } from '../../../../test/support/jobs/large-fleet.ts'
import { runCount } from '../../../../test/support/long-form.ts'
import { until } from '../../../../test/support/program.ts'
import { minuteMs } from '../../../contract/durations.ts'

/** The long form has a thousand. */
const rooms = runCount({ short: 100, long: 1000 })
const stages = [{ rooms: 10 }, { percent: 10 }, { percent: 20 }, { percent: 100 }]
const failures = { percent: 5, atLeast: 5 }
const soakMinutes = 5

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  harness.clock.fix(Date.UTC(2026, 4, 4, 20))
})
afterAll(() => harness.close())

interface Unit {
  readonly number: number
  readonly stage: number
  readonly state: string
  readonly endpoints: readonly { readonly endpointId: string; readonly state: string }[]
}

async function listUnits({ org }: LargeFleet, id: string): Promise<Unit[]> {
  const units: Unit[] = []
  for (let token = ''; ; ) {
    const page: Reply['body'] = (await org.call('GET', `/jobs/${id}/rooms?pageSize=1000${token}`)).body
    units.push(...page.rooms)
    if (!page.nextPageToken) return units
    token = `&pageToken=${page.nextPageToken}`
  }
}

/** The settings of each endpoint that people and jobs have made. */
const readSettings = async ({ org }: LargeFleet) =>
  new Map(
    (
      await harness.services.db.system.kysely
        .selectFrom('endpoint_configs')
        .select(['endpoint_id', 'explicit', 'version'])
        .where('org', '=', org.org.key)
        .execute()
    ).map(({ endpoint_id, explicit, version }) => [endpoint_id, { settings: JSON.parse(explicit), version }]),
  )

/** Gives each device one of four settings to begin with, as the first version that a person made. */
const putSettings = ({ org, connections, write }: LargeFleet) =>
  write(async (db) => {
    const choices = ['{}', '{"nightMode":false}', '{"brightness":0.5}', '{"nightMode":true,"brightness":0.7}']
    const versions = [...connections.keys()].map((endpoint_id, i) => ({
      ...{ org: org.org.key, endpoint_id, version: 1, state: 'DELIVERED', error: null },
      ...{ explicit: choices[i % 4] as string, secrets: '{}' },
    }))
    const reported = { reported_version: 1, reported_at: null }
    const made = { author_type: 'KEY', author_id: '1', author_name: 'Ada', created_at: 0, updated_at: 0, job_id: null }
    const profile = { profile_id: null, profile: '{}', profile_secrets: '{}' }
    await db
      .insertInto('endpoint_configs')
      .values(versions.map((row) => ({ ...row, ...reported })))
      .execute()
    await db
      .insertInto('config_versions')
      .values(versions.map((row) => ({ ...row, ...made, ...profile })))
      .execute()
  })

test.each([
  // [contract 12.states] does not know which rooms reject: they may be anywhere in the order of the job.
  { where: 'anywhere', isInRange: () => true },
  { where: 'only in rooms that come late', isInRange: (room: number) => room > rooms / 10 },
])(
  'a tenth of the rooms rejects, $where: the job stops in the stage that passes its threshold, and all that it touched returns',
  async ({ isInRange }) => {
    const fleet = await LargeFleet.make(harness, { rooms, locations: 20 })
    await putSettings(fleet)
    const { org } = fleet
    const choices = new SeededChoices(18)
    const ids = [...fleet.connections.keys()]
    const candidates = ids.filter((_, i) => isInRange(i + 1))
    const rejecting = new Set<string>()
    while (rejecting.size < rooms / 10) rejecting.add(choices.pick(candidates))
    const before = await readSettings(fleet)
    const answer = () =>
      fleet.answerConfigs((id, { version, config }) =>
        rejecting.has(id) && config.nightMode === true && config.brightness === 1
          ? { version, config: {}, rejected: { brightness: 'not supported' } }
          : { version, config },
      )

    const { id } = await newJob(org, {
      target: { locationIds: Array.from({ length: 20 }, (_, i) => i + 1) },
      action: { type: 'CONFIG', config: { nightMode: true, brightness: 1 } },
      ...{ stages, failures, soakMinutes, respect: { window: true, idle: false } },
      ...{ onFailure: 'pause', pace: { atOnce: 1000, atOncePerLocation: 1000 } },
    })
    const read = async () => (await org.call('GET', `/jobs/${id}`)).body
    // Devices answer immediately, and a soak passes whenever nothing else can happen.
    const stopped = await until(
      'the job stops',
      async () => {
        await answer()
        const job = await read()
        if (job.counts.SOAKING > 0 && !job.counts.RUNNING) harness.clock.advance(soakMinutes * minuteMs)
        return job.state === 'STOPPED' ? job : undefined
      },
      { everyMs: 50, timeoutMs: 90_000 },
    )
    // The job can stop while devices still answer, on a slow machine. Units that have begun are judged all the same.
    await until('no unit runs', async () => {
      await answer()
      return !(await read()).counts.RUNNING
    })

    const units = await listUnits(fleet, id)
    expect(units).toHaveLength(rooms)
    const isBegun = ({ state }: Unit) => state !== 'PENDING' && state !== 'WAITING'
    const isFailed = ({ state }: Unit) => state === 'FAILED'
    const isOver = (list: readonly Unit[]) =>
      list.filter(isFailed).length >= failures.atLeast &&
      list.filter(isFailed).length * 100 > failures.percent * list.length
    const begun = units.filter(isBegun)
    expect(isOver(begun), 'the threshold is passed').toBe(true)
    for (let stage = 1; stage < stopped.stage; stage++) {
      expect(isOver(begun.filter((unit) => unit.stage <= stage)), `stage ${stage} was within the threshold`).toBe(false)
    }
    expect(Math.max(...begun.map(({ stage }) => stage)), 'nothing of a later stage has begun').toBe(stopped.stage)
    for (const unit of begun) {
      expect(isFailed(unit), `unit ${unit.number}`).toBe(rejecting.has(unit.endpoints[0]?.endpointId ?? ''))
    }

    // People change the setting of one touched room and another setting of a second one, before the rollback.
    const touched = begun.map(({ endpoints }) => endpoints[0]?.endpointId ?? '')
    const [kept = '', partly = ''] = touched.filter((each) => !rejecting.has(each))
    await org.call('POST', `/endpoints/${kept}/config`, { body: { nightMode: false, brightness: 0.2 } })
    await org.call('POST', `/endpoints/${partly}/config`, { body: { fontSize: 'large' } })
    expect((await org.call('POST', `/jobs/${id}/roll_back`, { body: {} })).status).toBe(200)
    await until(
      'the job is rolled back',
      async () => {
        await answer()
        harness.clock.advance(minuteMs)
        return (await read()).state === 'ROLLED_BACK'
      },
      { everyMs: 50, timeoutMs: 90_000 },
    )
    const after = await readSettings(fleet)
    for (const each of ids) {
      const expected = { ...before.get(each)?.settings }
      if (each === kept) Object.assign(expected, { nightMode: false, brightness: 0.2 })
      if (each === partly) expected.fontSize = 'large'
      expect(after.get(each)?.settings, each).toEqual(expected)
      if (!touched.includes(each)) expect(after.get(each)?.version, 'it was never touched').toBe(1)
    }
    const states = Map.groupBy(await listUnits(fleet, id), ({ state }) => state)
    expect(states.get('KEPT')?.map(({ endpoints }) => endpoints[0]?.endpointId)).toEqual([kept])
    expect(states.get('ROLLED_BACK')).toHaveLength(begun.length - 1)
    expect(states.get('CANCELLED') ?? []).toHaveLength(rooms - begun.length)
  },
  120_000,
)
