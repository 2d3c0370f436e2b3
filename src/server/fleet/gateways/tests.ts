// Tests of devices: a person asks, the gateway tries, and the answer goes back to the person, at whichever node the gateway is. [contract 13.test]
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayTestAnswer, SourceTestAnswer } from '../../../contract/device/protocol.ts'
import { minuteMs } from '../../../contract/durations.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import { isUuid } from '../../core/uuid.ts'
import type { Tx } from '../../db/handles.ts'
import type { Device } from '../../devices/mqtt/handlers.ts'
import { change } from '../../journal/audit/change.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { type ItemTarget, requestedTarget, type TargetRow, targetRow, testContext } from './fields.ts'
import { refuseSourceItem, requireGateway, requireItem, storedTarget } from './rules.ts'
import { type findGateway, findTest, insertTest, listTestTimes, raiseListVersions, updateTestEnded } from './store.ts'

export const maxTestsPerMinute = 20
const pauseMs = 200

export async function gatewayDevicesTest(
  ctx: RequestContext,
  id: string,
  { deviceId, ...wanted }: InputOf<'gatewayDevicesTest'>['body'],
): Promise<GatewayTestAnswer> {
  const testId = await change(ctx, 'gatewayDevicesTest', async (tx) => {
    const gateway = await requireGateway(tx, id)
    const item = deviceId === undefined ? undefined : await requireItem(tx, id, deviceId)
    if (item) refuseSourceItem(item)
    const target = testedTarget(wanted, item && storedTarget(ctx, item))
    const testId = await startTest(tx, ctx, gateway, (test) =>
      targetRow(target, ctx.secrets, testContext(ctx.org, test)),
    )
    const { driver, host, port, username } = target
    return {
      result: testId,
      target: endpointRef(gateway),
      after: { driver, host, port, ...(username !== null && { username }), ...(item && { deviceId: item.id }) },
    }
  })
  ctx.devices.wake([id])
  return waitForAnswer(ctx, id, testId)
}

/** Also for sources: the gateway has one turn for all of its tests. Returns the id of the test. */
export async function startTest(
  tx: Tx,
  ctx: RequestContext,
  gateway: NonNullable<Awaited<ReturnType<typeof findGateway>>>,
  rowOf: (testId: string) => TargetRow,
): Promise<string> {
  if (!gateway.connected) {
    throw new Failure('FAILED_PRECONDITION', 'the gateway is not connected. Start it, then test again.')
  }
  const now = ctx.clock.now()
  await requireTurn(tx, gateway.id, now, ctx.limits.gatewayTestMs)
  const id = randomUUID()
  await insertTest(tx, { id, gateway_id: gateway.id, ...rowOf(id), created_at: now })
  await raiseListVersions(tx, { gateways: [gateway.id] })
  return id
}

/** A stored secret is tried at its stored address only. */
function testedTarget(wanted: Parameters<typeof requestedTarget>[0], stored: ItemTarget | undefined): ItemTarget {
  const { target, hasMoved } = requestedTarget(wanted, stored)
  const lost = hasMoved ? Object.keys(stored?.secrets ?? {}).filter((name) => target.secrets[name] === undefined) : []
  if (lost.length > 0) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'the stored password is only sent to the stored address. Enter the password for the test of another one.',
    )
  }
  return target
}

async function requireTurn(tx: Tx, gateway: string, now: number, testMs: number): Promise<void> {
  const recent = await listTestTimes(tx, { gateway, since: now - minuteMs })
  const running = recent.find((test) => test.ended === 0 && test.created_at > now - testMs)
  if (running) {
    throw new Failure('ABORTED', 'Another test of this gateway is running. Wait for its result, then test again.', {
      retryAfterSeconds: secondsUntil(running.created_at + testMs, now),
    })
  }
  const [oldest] = recent.slice(-maxTestsPerMinute)
  if (oldest && recent.length >= maxTestsPerMinute) {
    const seconds = secondsUntil(oldest.created_at + minuteMs, now)
    throw new Failure(
      'RESOURCE_EXHAUSTED',
      `A gateway makes ${maxTestsPerMinute} tests in a minute. Wait ${seconds} s, then test again.`,
      { retryAfterSeconds: seconds },
    )
  }
}

const secondsUntil = (at: number, now: number) => Math.max(1, Math.ceil((at - now) / 1000))

/** The gateway can be connected to another node, so the answer is read from the row of the test. */
export async function waitForAnswer<A extends { readonly reason?: string }>(
  ctx: RequestContext,
  gateway: string,
  id: string,
): Promise<A | { readonly reason: string }> {
  const endAtMs = performance.now() + ctx.limits.gatewayTestMs
  for (;;) {
    const row = await findTest(ctx.db, { id })
    if (!row) throw new Failure('NOT_FOUND', `gateway ${gateway} was deleted during the test.`)
    if (row.answer !== null) return JSON.parse(row.answer)
    if (performance.now() > endAtMs) break
    await sleep(pauseMs)
  }
  const hasEnded = await ctx.db.telemetry((on) => updateTestEnded(on, { gateway, id, answer: null }))
  const { answer = null } = hasEnded ? {} : ((await findTest(ctx.db, { id })) ?? {})
  if (answer !== null) return JSON.parse(answer)
  return { reason: 'The gateway gave no answer in time. Look at its log, then test again.' }
}

/** The answer of a gateway, about a device or a source; one to a test that is over, or not its own, is NOT_FOUND. */
export async function answerTest(
  services: Services,
  { org, id: gateway }: Device,
  id: string,
  answer: GatewayTestAnswer | SourceTestAnswer,
) {
  const text = JSON.stringify(answer)
  const on = services.db.forOrg(org.key)
  const isStored = isUuid(id) && (await on.telemetry((tx) => updateTestEnded(tx, { gateway, id, answer: text })))
  if (!isStored) throw new Failure('NOT_FOUND', `no test ${id.slice(0, 64)} waits for an answer.`)
}
