// Tests that a selection of any size becomes a target that has exactly the selected devices.

import { expect, test } from 'vitest'
import { maxTargetValues } from '../../../contract/jobs/job-request.ts'
import { deviceTarget, type PlacedDevice, roomTarget } from './bulk-target.ts'

/** Two devices in each room, ten rooms in each location, all in one region. */
const all: PlacedDevice[] = Array.from({ length: 5000 }, (_, i) => ({
  id: `d${i}`,
  roomId: Math.floor(i / 2) + 1,
  location: { id: Math.floor(i / 20) + 1, region: { id: 7 } },
}))

/** Chooses as the service does: all keys must hold, and what matches all keys of `exclude` is left out. */
function matching(target: ReturnType<typeof deviceTarget>): string[] {
  const holds = (keys: object, { id, roomId, location }: PlacedDevice) =>
    Object.entries(keys).every(([key, values]) =>
      values.includes(
        { endpointIds: id, roomIds: roomId, locationIds: location?.id, regionIds: location?.region?.id }[key],
      ),
    )
  const { exclude, ...keys } = target ?? {}
  return all.filter((device) => holds(keys, device) && !(exclude && holds(exclude, device))).map(({ id }) => id)
}
const idsOf = (devices: readonly PlacedDevice[]) => devices.map(({ id }) => id)

test.each([1, 500, 501, 1999, 2000, 4999, 5000])('%i devices are the target, and no others', (count) => {
  const selected = all.slice(0, count)
  const target = deviceTarget(selected, all)
  expect(matching(target)).toEqual(idsOf(selected))
  for (const [key, list] of [target, target?.exclude].flatMap((keys) => Object.entries(keys ?? {})))
    if (Array.isArray(list))
      expect(list.length).toBeLessThanOrEqual(maxTargetValues[key as keyof typeof maxTargetValues])
})

test('a selection that no list can describe has no target', () => {
  expect(
    deviceTarget(
      all.filter((_, i) => i % 2 === 0).map(({ id }) => ({ id })),
      all,
    ),
  ).toBeUndefined()
})

test('more than 1,000 rooms are described by their locations', () => {
  const roomIds = Array.from({ length: 1500 }, (_, i) => i + 1)
  expect(roomTarget([3, 4], all)).toEqual({ roomIds: [3, 4] })
  expect(matching(roomTarget(roomIds, all))).toEqual(idsOf(all.slice(0, 3000)))
})
