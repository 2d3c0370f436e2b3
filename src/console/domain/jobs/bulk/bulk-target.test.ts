// Tests that a selection of any size becomes a target that has exactly the selected devices.

import { expect, test } from 'vitest'
import { maxTargetValues } from '../../../../contract/jobs/job-request.ts'
import { deviceTarget, roomTarget, type SelectableDevice } from './bulk-target.ts'

/** A bar and a pad in each room, ten rooms in each location, all in one region. One pad in four has a profile. */
const all: SelectableDevice[] = Array.from({ length: 5000 }, (_, i) => ({
  id: `d${i}`,
  roomId: Math.floor(i / 2) + 1,
  location: { id: Math.floor(i / 20) + 1, region: { id: 7 } },
  model: i % 2 === 0 ? 'NF19B1' : 'NF19A1',
  firmwareVersion: i < 3000 ? '24.1' : '24.2',
  ...(i % 8 === 1 && { profileId: 3 }),
}))

/** Chooses as the service does: all keys must hold, and what matches all keys of `exclude` is left out. */
function matching(target: ReturnType<typeof deviceTarget>): string[] {
  const holds = (keys: object, { id, roomId, location, model, firmwareVersion, profileId }: SelectableDevice) => {
    const places = { roomIds: roomId, locationIds: location?.id, regionIds: location?.region?.id }
    const own = { ...places, endpointIds: id, models: model, firmwareVersions: firmwareVersion, profileIds: profileId }
    return Object.entries(keys).every(([key, values]) => values.includes(own[key as keyof typeof own]))
  }
  const { exclude, ...keys } = target ?? {}
  return all.filter((device) => holds(keys, device) && !(exclude && holds(exclude, device))).map(({ id }) => id)
}
const idsOf = (devices: readonly SelectableDevice[]) => devices.map(({ id }) => id)

test.each([1, 500, 501, 1999, 2000, 4999, 5000])('%i devices are the target, and no others', (count) => {
  const selected = all.slice(0, count)
  expectExactly(selected)
})

function expectExactly(selected: readonly SelectableDevice[]): void {
  const target = deviceTarget(selected, all)
  expect(matching(target)).toEqual(idsOf(selected))
  for (const [key, list] of [target, target?.exclude].flatMap((keys) => Object.entries(keys ?? {})))
    if (Array.isArray(list))
      expect(list.length).toBeLessThanOrEqual(maxTargetValues[key as keyof typeof maxTargetValues])
}

test('all devices that match a filter by model, profile or firmware are described by these, also in rooms with other devices', () => {
  const pads = all.filter(({ model }) => model === 'NF19A1')
  expect(deviceTarget(pads, all)).toEqual({ regionIds: [7], models: ['NF19A1'] })
  expect(deviceTarget(pads.slice(0, 600), all)).toMatchObject({ roomIds: expect.anything(), models: ['NF19A1'] })
  expect(deviceTarget(pads.slice(0, -2), all)).toMatchObject({ exclude: { endpointIds: idsOf(pads.slice(-2)) } })
  const withoutRoom = pads.map(({ roomId, location, ...device }) => device)
  expect(deviceTarget(withoutRoom, all)).toEqual({ models: ['NF19A1'] })
  for (const selected of [
    pads.slice(0, 600),
    pads.slice(0, -2),
    all.filter(({ profileId }) => profileId === 3),
    pads.filter(({ firmwareVersion }) => firmwareVersion === '24.1'),
  ])
    expectExactly(selected)
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
