// The service without HTTP, MQTT and scheduled tasks: a test with a fixed clock runs the tasks that matter, at its own times.
import { pino } from 'pino'
import type { ServeOptions } from '../../../src/server/config/server-options.ts'
import type { RequestContext } from '../../../src/server/context/request-context.ts'
import type { Services } from '../../../src/server/context/services.ts'
import { timeLimits } from '../../../src/server/core/time-limits.ts'
import { commandLineActor, orgCreate } from '../../../src/server/journal/orgs/rules.ts'
import { openCore } from '../../../src/server/phases/core.ts'
import { makeResources, type Resources } from '../../../src/server/phases/resources.ts'
import { newPlace, quiet, TestClock } from '../harness.ts'

export interface QuietService extends Pick<Resources, 'intake' | 'deferredReboots' | 'incidents'> {
  readonly services: Services
  readonly clock: TestClock
  /** Someone who may do everything in the only organisation. */
  readonly ctx: RequestContext
}

/** Opens it on an empty database, with its clock at this time. The stack closes it and removes the database. */
export async function openQuietService(
  stack: AsyncDisposableStack,
  start: number,
  options: Partial<ServeOptions> = {},
): Promise<QuietService> {
  const { place, remove } = await newPlace({ hasTables: true })
  stack.defer(remove)
  const clock = new TestClock()
  const log = pino({ level: 'silent' })
  const core = await openCore(stack, {
    options: { ...quiet, ...place, ...options },
    log,
    clock,
    limits: timeLimits,
    onLost: () => {},
  })
  const { intake, deferredReboots, incidents } = await makeResources(core)
  clock.fix(start)
  const actor = { type: 'SYSTEM', id: 'test', name: 'Test' } as const
  const { services } = core
  const { id } = await orgCreate(services, actor, 'Test organisation')
  return { services, clock, ctx: await commandLineActor(services, actor, id), intake, deferredReboots, incidents }
}
