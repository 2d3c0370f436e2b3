// Kills a server with SIGKILL while it starts the runs of many recurring jobs: each run is started once. [contract 12.recurring]
import { expect, test } from 'vitest'
import { devicePaths } from '../../../src/contract/device/protocol.ts'
import { hourMs, minuteMs } from '../../../src/contract/durations.ts'
import { maxRecurringJobs } from '../../../src/contract/jobs/recurring-jobs.ts'
import { weekdays } from '../../../src/contract/weekly-hours.ts'
import { SeededChoices } from '../../support/endurance/random.ts'
import { send } from '../../support/harness.ts'
import { runCount } from '../../support/long-form.ts'
import { siteForTest, until } from '../../support/program.ts'

const killCount = runCount({ short: 1, full: 10, long: 40 })
const recurringCount = runCount({ short: 25, full: maxRecurringJobs, long: maxRecurringJobs })

test('kill -9 while runs of recurring jobs start loses and doubles no run', async () => {
  const choices = new SeededChoices(45)
  const site = await siteForTest()
  const options = ['--mqtt-port', '0', '--rate-limit', '0', '--log-level', 'error']
  const first = await site.serveHere(...options)
  const call = (method: string, path: string, body?: object) =>
    send(first.url, method, `/v1/orgs/${first.org}${path}`, { key: first.key, ...(body && { body }) })
  const room = (await call('POST', '/rooms', { name: 'Fjord' })).body
  const device = { code: room.dec, serial: 'RECUR1', model: 'NF19B1' }
  expect((await send(first.url, 'POST', devicePaths.enrol, { body: device })).status).toBe(200)
  // None is due while the test makes them.
  const at = new Date(Date.now() + hourMs).toISOString().slice(11, 16)
  for (let n = 0; n < recurringCount; n++) {
    const body = { name: `Recurring ${n}`, target: { all: true }, action: { type: 'REBOOT' } }
    const made = await call('POST', '/recurring_jobs', { ...body, schedule: { days: [...weekdays], at } })
    expect(made.status, made.text).toBe(200)
  }
  await first.stop()
  const count = async () => Number((await site.sql('select count(*) as count from recurring_job_runs'))[0]?.count)
  const onceStarted = (least: number) =>
    until(`${least} runs are started`, async () => (await count()) >= least, { everyMs: 20, timeoutMs: 60_000 })
  let [kills, interruptions] = [0, 0]
  while (kills < killCount) {
    // A run of each of them is due now: of a minute ago, and not handled yet.
    const due = new Date(Date.now() - minuteMs)
    const time = due.toISOString().slice(11, 16)
    await site.sql(
      `update recurring_jobs set schedule = '${JSON.stringify({ days: weekdays, at: time })}', handled_until = ${due.getTime() - 2 * minuteMs}`,
    )
    await site.sql(`delete from recurring_job_runs`)
    await site.sql(`update jobs set state = 'CANCELLED', ended_at = 1, recurring_job = null`)
    for (let done = 0; done < recurringCount && kills < killCount; done = await count()) {
      const server = await site.serve(...options)
      await onceStarted(done + 1 + choices.below(Math.ceil((recurringCount - done) / 2)))
      await server.stop('SIGKILL')
      kills++
      if ((await count()) < recurringCount) interruptions++
    }
    const last = await site.serveHere(...options)
    await onceStarted(recurringCount)
    await last.stop()
    const jobs = await site.sql(
      'select recurring_job, count(*) as count from jobs where recurring_job is not null group by recurring_job',
    )
    expect(jobs.map(({ count: of }) => Number(of))).toEqual(Array(recurringCount).fill(1))
    const orphans = `select job_id from recurring_job_runs r where job_id is null or not exists (select 1 from jobs j where j.id = r.job_id and j.recurring_job = r.recurring_job)`
    expect(await site.sql(orphans)).toEqual([])
  }
  expect(interruptions, 'kills between two runs').toBeGreaterThan(0)
}, 600_000)
