// Tests that sums of rooms have the seconds of all classes, and the availability of all of their seconds.
import { expect, test } from 'vitest'
import type { AvailabilityRow } from '../../../../contract/reports/availability.ts'
import { sumLocations, sumRows } from './sums.ts'

const none = { notKnownSeconds: 0, silencedSeconds: 0, changeWindowSeconds: 0, serviceSeconds: 0, unknownSeconds: 0 }
const row = (location: string | undefined, upSeconds: number, chargedSeconds: number, silencedSeconds = 0) =>
  ({
    ...(location && { location: { id: location.length, name: location } }),
    ...none,
    ...{ upSeconds, chargedSeconds, silencedSeconds, asleepSeconds: 0, shortSeconds: 0, impairedSeconds: 0 },
    countedSeconds: upSeconds + chargedSeconds + silencedSeconds,
    ...{ outages: 1, longestOutageSeconds: chargedSeconds, isTargetMet: chargedSeconds === 0 },
  }) as AvailabilityRow

test('a location has the seconds of its rooms, and the worst comes first', () => {
  const rows = [row('Oslo', 900, 0, 100), row('Bergen', 800, 200), row('Oslo', 700, 300), row(undefined, 0, 0, 50)]
  const sums = sumLocations(rows, 99.5)
  expect(sums.map(({ name, availability }) => [name, availability])).toEqual([
    ['Bergen', 0.8],
    ['Oslo', 0.842105],
    ['No location', undefined],
  ])
  expect(sums[1]).toMatchObject({ rooms: 2, belowTarget: 1, outages: 2, longestOutageSeconds: 300, counted: 2000 })
  const { seconds, counted } = sumRows(rows, 99.5)
  expect(Object.values(seconds).reduce((a, b) => a + b)).toBe(counted)
})

test('the target is compared with the rounded availability, as the service does', () => {
  const kept = sumRows([row('Oslo', 15_760_794, 79_206)], 99.5)
  expect(kept).toMatchObject({ availability: 0.995, isTargetMet: true })
  expect(sumRows([row('Oslo', 15_760_780, 79_220)], 99.5)).toMatchObject({ availability: 0.994999, isTargetMet: false })
  expect(sumRows([row('Oslo', 0, 0)], 99.5).isTargetMet).toBeUndefined()
})
