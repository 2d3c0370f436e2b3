// With thousands of reboots that wait, each is checked often enough to be sent within 30 seconds, at a bounded cost. [contract 12.when]
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { runCount } from '../../../../../test/support/long-form.ts'
import { openQuietService, type QuietService } from '../../../../../test/support/reboots/quiet-service.ts'
import { hourMs } from '../../../../contract/durations.ts'
import { roomsCreate } from '../../rooms/rules.ts'

/** The promise is for 10,000. */
const count = runCount({ short: 3000, long: 10_000 })
/** The task runs every second, so this is the number of seconds in which each has been checked. */
const runs = 5

test('thousands of reboots that wait are all checked within 5 runs', async () => {
  await using stack = new AsyncDisposableStack()
  const start = Date.UTC(2026, 4, 4, 8)
  const service = await openQuietService(stack, start)
  await putWaitingReboots(service, start)
  const cpu = process.cpuUsage()
  for (let run = 0; run < runs; run++) await service.deferredReboots.run(service.services, service.ctx.org)
  const { user, system } = process.cpuUsage(cpu)
  const cpuMs = (user + system) / 1000 / runs
  process.stdout.write(`a run over up to 2,500 of ${count} waiting reboots: ${cpuMs.toFixed(0)} ms of CPU\n`)
  expect(await countWaitingFor(service, 'idle')).toBe(count)
  // This includes the first write of what each of them waits for. The limit is generous, because other tests share the machine.
  expect(cpuMs).toBeLessThan(1000)
})

test('a group that is larger than a page is checked as a whole, and so are those after it', async () => {
  await using stack = new AsyncDisposableStack()
  const start = Date.UTC(2026, 4, 4, 8)
  const service = await openQuietService(stack, start)
  // The ids of other groups come before and after that of the large one.
  await putWaitingReboots(service, start, 700, (i) => (i < 600 ? '8' : i < 650 ? `1-${i}` : `9-${i}`))
  await service.deferredReboots.run(service.services, service.ctx.org)
  expect(await countWaitingFor(service, 'idle')).toBe(700)
})

/** Each endpoint is in a call, in one of 100 rooms, and its reboot says that it waits for a window, as before a first run. */
async function putWaitingReboots(
  { services, ctx }: QuietService,
  at: number,
  endpointCount = count,
  groupOf: (i: number) => string | undefined = () => undefined,
): Promise<void> {
  const roomIds: number[] = []
  for (let i = 0; i < 100; i++) roomIds.push((await roomsCreate(ctx, { name: `Room ${i}` })).body.id)
  const status = JSON.stringify({ inCallStatus: 'ZOOM' })
  const endpoints = await putEndpoints(
    { services },
    { org: ctx.org },
    Array.from({ length: endpointCount }, (_, i) => ({
      ...{ room_id: roomIds[i % 100] ?? null, connected: 1, connection_time: at, enrolment_time: at, status },
    })),
  )
  const rows = endpoints.map(({ id: endpoint_id }, i) => {
    const id = randomUUID()
    const times = { created_at: at, updated_at: at, deadline: at + hourMs }
    const wait = { reboot_time: 'idle', waits_for: 'window', group_id: groupOf(i) ?? id } as const
    return { org: ctx.org.key, id, endpoint_id, type: 'REBOOT', state: 'QUEUED', payload: '{}', ...times, ...wait }
  })
  await services.db.systemTransaction(async ({ kysely }) => {
    for (let i = 0; i < rows.length; i += 1000) {
      await kysely
        .insertInto('operations')
        .values(rows.slice(i, i + 1000))
        .execute()
    }
  })
}

async function countWaitingFor({ services, ctx }: QuietService, what: 'idle'): Promise<number> {
  const { found } = await services.db.system.kysely
    .selectFrom('operations')
    .select((e) => e.fn.countAll<number>().as('found'))
    .where('org', '=', ctx.org.key)
    .where('waits_for', '=', what)
    .executeTakeFirstOrThrow()
  return Number(found)
}
