// The settings of the rules: what is listed, what may be changed, and who may. [contract 10.rule]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { minuteMs } from '../../../contract/durations.ts'
import {
  incidentRules,
  type LimitName,
  limitRanges,
  ruleIds,
  withNumbers,
} from '../../../contract/incidents/rule-table.ts'
import { defaultRules, readRulesInForce } from './in-force.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const list = async (org: TestOrg) => (await org.call('GET', '/incident_rules')).body.rules
const put = (org: TestOrg, rule: string, body: object, headers: Record<string, string> = {}) =>
  org.call('PUT', `/incident_rules/${rule}`, { body, headers })
const inForce = (org: TestOrg) => readRulesInForce(harness.services.db.forOrg(org.org.key))

test('every rule is listed with its defaults, and all of them are on', async () => {
  const org = await harness.newOrg()
  const rules = await list(org)
  expect(rules.map(({ rule }: { rule: string }) => rule)).toEqual(ruleIds)
  for (const rule of rules) {
    const defaults = incidentRules[rule.rule as keyof typeof incidentRules]
    const { severity, holdMs, clearMs, limits } = defaults
    const [opens, ends] = [withNumbers(defaults.opens, defaults), withNumbers(defaults.ends, defaults)]
    expect(rule).toEqual({
      rule: rule.rule,
      ...{ opens, ends, severity, limits, enabled: true, changed: false },
      holdMinutes: holdMs / minuteMs,
      clearMinutes: clearMs / minuteMs,
    })
  }
  expect(await inForce(org)).toEqual(defaultRules)
})

test('the texts of a rule have the numbers of the organisation', async () => {
  const org = await harness.newOrg()
  await put(org, 'device.flapping', { limits: { disconnects: 9 }, clearMinutes: 30 })
  const flapping = (await list(org)).find(({ rule }: { rule: string }) => rule === 'device.flapping')
  expect(flapping.opens).toBe('a device disconnects 9 times in 60 minutes')
  expect(flapping.ends).toBe('it has not disconnected for 30 minutes')
})

test('the default of every limit is within the range that an organisation may choose', () => {
  for (const id of ruleIds) {
    for (const [name, value] of Object.entries(incidentRules[id].limits)) {
      const { min, max } = limitRanges[name as LimitName]
      expect(value, `${id} ${name}`).toBeGreaterThanOrEqual(min)
      expect(value, `${id} ${name}`).toBeLessThanOrEqual(max)
    }
  }
})

test('an absent key keeps its value, null restores the default, and other rules and organisations stay as they are', async () => {
  const [org, other] = [await harness.newOrg(), await harness.newOrg()]
  const [before, ofOther] = [await list(org), await list(other)]
  const first = await put(org, 'storage.low', { severity: 'INFO', holdMinutes: 5, limits: { endsAtPercent: 20 } })
  expect(first.body).toMatchObject({
    rule: 'storage.low',
    severity: 'INFO',
    holdMinutes: 5,
    limits: { opensBelowPercent: 10, endsAtPercent: 20 },
    changed: true,
  })
  await put(org, 'storage.low', { enabled: false, severity: null })
  const limits = { opensBelowPercent: 10, endsAtPercent: 20 }
  expect((await inForce(org))['storage.low']).toEqual({
    ...defaultRules['storage.low'],
    isEnabled: false,
    holdMs: 5 * minuteMs,
    limits,
  })
  const last = await put(org, 'storage.low', { enabled: null, holdMinutes: null, limits: null })
  expect(last.body).toEqual(before.find(({ rule }: { rule: string }) => rule === 'storage.low'))
  expect([await list(org), await list(other)]).toEqual([before, ofOther])
})

test('a value that equals the default counts as unchanged', async () => {
  const org = await harness.newOrg()
  const same = { enabled: true, severity: 'WARNING', holdMinutes: 30, clearMinutes: 0, limits: { endsAtPercent: 15 } }
  expect((await put(org, 'storage.low', same)).body.changed).toBe(false)
})

test('a change is audited with the values before and after', async () => {
  const org = await harness.newOrg()
  await put(org, 'device.offline', { holdMinutes: 15 })
  expect((await org.audit())[0]).toMatchObject({
    category: 'ORG',
    type: 'INCIDENT_RULE_UPDATED',
    target: { type: 'incidentRule', id: 'device.offline' },
    details: { before: { holdMinutes: 5 }, after: { holdMinutes: 15 } },
  })
})

test.each([
  [
    'storage.low',
    { limits: { disconnects: 3 } },
    /limits\.disconnects is not known; this rule has opensBelowPercent, /,
  ],
  ['config.rejected', { limits: { minutes: 3 } }, /limits\.minutes is not known; this rule has none/],
  ['storage.low', { limits: { opensBelowPercent: 0 } }, /must be a whole number from 1 to 99/],
  ['storage.low', { limits: { opensBelowPercent: 12.5 } }, /must be a whole number from 1 to 99/],
  [
    'storage.low',
    { limits: { opensBelowPercent: 15 } },
    /endsAtPercent must be greater than opensBelowPercent, which is 15/,
  ],
  ['certificate.expiring', { limits: { days: 6 } }, /criticalDays must not be greater than days, which is 6/],
  ['storage.low', { holdMinutes: -1 }, /holdMinutes/],
  ['storage.low', { holdMinutes: 43_201 }, /holdMinutes/],
  ['storage.low', { severity: 'FATAL' }, /severity/],
  ['storage.low', { limits: { __proto__: null, toString: 1 } }, /limits\.toString is not known/],
])('%s with %o is refused, and changes nothing', async (rule, body, sentence) => {
  const org = await harness.newOrg()
  const before = [await list(org), await org.audit()]
  const refused = await put(org, rule, body)
  expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  expect(refused.body.message).toMatch(sentence)
  expect([await list(org), await org.audit()]).toEqual(before)
})

test('a rule that does not exist is not found', async () => {
  const org = await harness.newOrg()
  for (const rule of ['device.purple', 'toString']) {
    expect((await put(org, rule, { enabled: false })).body.code, rule).toBe('NOT_FOUND')
  }
})

test('the rules about security need manage beside write', async () => {
  const org = await harness.newOrg()
  const key = await org.newKey({ scopes: ['read', 'write'] })
  for (const rule of ruleIds) {
    const { status, body } = await org.call('PUT', `/incident_rules/${rule}`, { key, body: { severity: 'INFO' } })
    if (/^(?:credential|certificate|channel)\./.test(rule)) {
      expect([status, body.code], rule).toEqual([403, 'PERMISSION_DENIED'])
      expect(body.message).toContain(`lacks the attribute manage, which changing the rule ${rule} needs`)
      expect((await put(org, rule, { severity: 'INFO' })).status, 'with manage').toBe(200)
    } else expect(status, rule).toBe(200)
  }
})

test('If-Match guards a change against one that came between', async () => {
  const org = await harness.newOrg()
  const etag = (await put(org, 'air.beyond', { severity: 'WARNING' })).headers.get('etag') as string
  expect((await put(org, 'air.beyond', { severity: null }, { 'if-match': etag })).status).toBe(200)
  expect((await put(org, 'air.beyond', { severity: 'CRITICAL' }, { 'if-match': etag })).status).toBe(412)
  expect((await inForce(org))['air.beyond']).toEqual(defaultRules['air.beyond'])
})
