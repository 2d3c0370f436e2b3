// The values of options carry their units in their names, while the flags stay short.
import { expect, test } from 'vitest'
import { withUnit } from './database-options.ts'
import { sharedOptions } from './stored-options.ts'

test('the value of an option is named after its flag and the unit that the flag takes', () => {
  expect(sharedOptions.map(({ name, key }) => `${name}: ${key}`)).toEqual([
    'log-retention: logRetentionDays',
    'bundle-quota: bundleQuotaGigabytes',
    'settle: settleMinutes',
    'sample-retention: sampleRetentionDays',
    'rollup-retention: rollupRetentionDays',
    'daily-retention: dailyRetentionDays',
    'incident-retention: incidentRetentionDays',
    'room-freshness: roomFreshnessMinutes',
    'idle-minutes: idleMinutes',
    'air-limits: airLimits',
  ])
  expect(withUnit('bundleQuota', '--bundle-quota <gigabytes>')).toBe('bundleQuotaGigabytes')
  expect(withUnit('port', '--port <number>')).toBe('port')
})
