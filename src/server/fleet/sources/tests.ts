// Tests of sources: the gateway tries one, as it tries a device. [contract 15.test]
import type { SourceTestResult } from '../../../contract/fleet/sources.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid } from '../../core/failure.ts'
import { change } from '../../journal/audit/change.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { testContext } from '../gateways/fields.ts'
import { startTest, waitForAnswer } from '../gateways/tests.ts'
import { requestedSource, type SourceTarget, sourceTargetRow } from './fields.ts'
import { requireGatewayOfBody, requireSource, storedSource } from './rules.ts'

export async function sourcesTest(
  ctx: RequestContext,
  { sourceId, gatewayId, enrolIntoRoomId: _, ...wanted }: InputOf<'sourcesTest'>['body'],
): Promise<SourceTestResult> {
  const { gateway, testId } = await change(ctx, 'sourcesTest', async (tx) => {
    const source = sourceId === undefined ? undefined : await requireSource(tx, sourceId)
    const named = gatewayId ?? source?.gateway_id
    if (named === undefined) throw invalid([{ field: 'gatewayId', error: 'is required' }])
    const gateway = await requireGatewayOfBody(tx, named)
    const stored = source && storedSource(ctx, source)
    const target = testedSource(wanted, stored)
    if (stored && named !== source.gateway_id && Object.keys(target.secrets).some((name) => isStored(name, wanted))) {
      throw new Failure(
        'FAILED_PRECONDITION',
        'the stored key is only sent to the gateway of the source. Enter the key for the test of another one.',
      )
    }
    const testId = await startTest(tx, ctx, gateway, (id) => testRow(ctx, target, id))
    const { type, url } = target
    return {
      result: { gateway: gateway.id, testId },
      target: endpointRef(gateway),
      after: { type, url, ...(source && { sourceId: source.id }) },
    }
  })
  ctx.devices.wake([gateway])
  return waitForAnswer(ctx, gateway, testId)
}

const isStored = (name: string, body: Readonly<Record<string, unknown>>) => body[name] === undefined

/** A stored secret is tried at its stored address only. */
function testedSource(wanted: Parameters<typeof requestedSource>[0], stored: SourceTarget | undefined): SourceTarget {
  const { target, hasMoved } = requestedSource(wanted, stored)
  const secrets: Readonly<Record<string, string>> = target.secrets
  if (hasMoved && Object.keys(stored?.secrets ?? {}).some((name) => secrets[name] === undefined)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'the stored key is only sent to the stored address. Enter the key for the test of another one.',
    )
  }
  return target
}

/** The columns of a test of a device carry the source. */
function testRow(ctx: RequestContext, target: SourceTarget, id: string) {
  const { url, settings, secrets } = sourceTargetRow(target, ctx.secrets, testContext(ctx.org, id))
  return { driver: target.type, host: url, port: 0, username: null, secrets, options: settings, fingerprint: null }
}
