// The run of every second reads by index only, whatever the size of the fleet.
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine, type Harness, startHarness } from '../../../../test/support/harness.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { OrgReader } from '../../db/handles.ts'
import { defaultRules } from '../incident-rules/in-force.ts'
import { listRejectedConfigs } from './observations/config-store.ts'
import { listDisconnects } from './observations/flapping-store.ts'
import type { QuickInput } from './observations/input.ts'
import { observeQuick } from './observe.ts'
import type { Finding } from './types.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Returns the plans of the statements that a work runs. */
async function plansOf(work: (on: OrgReader) => Promise<unknown>): Promise<string[]> {
  const { db } = harness.services
  const recorded: CompiledQuery[] = []
  const recorder = new OrgReader({ org: 1, access: RegionAccess.everything }, 'sqlite', {
    kysely: db.system.kysely,
    run(query) {
      recorded.push(query)
      return []
    },
  })
  await work(recorder)
  return Promise.all(
    recorded.map(async (query) => {
      const explain = CompiledQuery.raw(`explain query plan ${query.sql}`)
      const values = query.parameters.map(() => 1)
      return ((await db.system.run(explain, values)) as { detail: string }[]).map(({ detail }) => detail).join('\n')
    }),
  )
}

const plansOfRun = (findings: readonly Finding[], values: Partial<QuickInput> = {}) =>
  plansOf((on) => {
    const quiet = { hasSilences: false, isSilenced: () => false, isReturning: () => false }
    const service = { orgId: 'org', certificateExpiresAt: undefined, gateways: new Set<string>() }
    const times = { now: 1, unknownAfter: 1, settleMs: 1, settledAt: 1, lastEnd: 1 }
    return observeQuick(on, { now: 1, from: 0, rules: defaultRules, findings, ...quiet, ...service, times, ...values })
  })

const finding: Finding = {
  rule: 'device.offline',
  subject: { type: 'endpoint', id: 'bar' },
  since: 0,
  maturedAt: null,
  clearSince: null,
  incidentId: null,
  detail: {},
}

describe.runIf(engine === 'sqlite')('the plans of SQLite', () => {
  test('a quick run is five statements while there are no findings, and two more with one that may change', async () => {
    expect(await plansOfRun([])).toHaveLength(5)
    const plans = await plansOfRun([finding])
    expect(plans).toHaveLength(7)
    for (const plan of plans) {
      // The table of nodes has a few rows, an organisation has some hundred jobs at most, and json_each is the list of ids.
      expect(plan.replaceAll(/SCAN (?:nodes|json_each.*)|SEARCH j USING .*/g, '')).not.toMatch(/SCAN|\(org=\?\)/)
    }
  })

  test('devices that wait for the end of a silence or of the time after a restart are not read every second', async () => {
    const silenced = { ...finding, detail: { silenced: true as const } }
    expect(await plansOfRun([finding], { isReturning: () => true })).toHaveLength(6)
    expect(await plansOfRun([silenced], { isSilenced: () => true })).toHaveLength(6)
    expect(await plansOfRun([silenced]), 'the silence is over').toHaveLength(7)
  })

  test('many devices that may change are read in pages, which let other work run in between', async () => {
    const many = Array.from({ length: 600 }, (_, i) => ({
      ...finding,
      subject: { ...finding.subject, id: `bar ${i}` },
    }))
    expect(await plansOfRun(many)).toHaveLength(6 + 3)
  })

  test('devices that went offline a moment ago are read while something is silenced, by index', async () => {
    const plans = await plansOfRun([], { hasSilences: true })
    expect(plans).toHaveLength(7)
    for (const plan of plans) {
      expect(plan.replaceAll(/SCAN (?:nodes|json_each.*)|SEARCH j USING .*/g, '')).not.toMatch(/SCAN|\(org=\?\)/)
    }
  })

  test('connections of other organisations, and versions that were rejected long ago, are not read', async () => {
    const plans = await plansOf(async (on) => {
      await listDisconnects(on, { from: 0 })
      await listRejectedConfigs(on)
    })
    expect(plans[0]).toContain('connection_spans_org (org=? AND until>?)')
    expect(plans[1]).toContain('endpoint_configs_failed (org=?)')
  })
})
