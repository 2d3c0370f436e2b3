// Tests that the CSV file of the list of devices shows what devices report, their state and their gateway.
import { expect, test } from 'vitest'
import { fullStatusReport, reportedCases } from '../../../../test/support/devices/reported-cases.ts'
import type { ListedDevice } from '../../domain/fleet/device/device.ts'
import { deviceRowOf } from '../../domain/fleet/device/device-rows.ts'
import { rowsCsv } from '../../parts/table/export-rows.ts'
import { deviceColumns } from './device-columns.tsx'

const since = '2026-05-04T08:00:00.000Z'
const around = { location: undefined, profileName: undefined, restartingSinceMs: undefined, viaName: undefined }

function fileOf(device: Partial<ListedDevice>, viaName?: string): Record<string, string> {
  const listed = { id: 'd', serial: 'S-1', model: 'PX-900', connected: true, connectionTime: since, ...device }
  const rows = [deviceRowOf(listed, { ...around, viaName })]
  const [titles = '', cells = ''] = rowsCsv(deviceColumns(rows), rows).split('\r\n')
  const values = cells.split(',')
  return Object.fromEntries(titles.split(',').map((title, index) => [title, values[index] ?? '']))
}

test('every reported field that belongs into the CSV file is in it, and no other column shows one', () => {
  const shown = Object.fromEntries(
    Object.values(reportedCases).flatMap(({ consoleCsv }) => (consoleCsv ? [consoleCsv] : [])),
  )
  const full = fileOf(fullStatusReport)
  expect(full).toMatchObject(shown)
  const empty = fileOf({})
  const differing = Object.keys(full).filter((title) => full[title] !== empty[title])
  expect(differing.sort()).toEqual(Object.keys(shown).sort())
})

test('model, serial number, state, since and gateway are in the CSV file', () => {
  expect(fileOf({})).toMatchObject({ Model: 'PX-900', 'Serial number': 'S-1', State: 'Online', Since: since })
  const away = { connected: false, state: 'UNKNOWN', via: 'g', hasGateway: true } as const
  expect(fileOf(away, 'Gateway Oslo')).toMatchObject({ State: 'Cannot be seen', Via: 'Gateway Oslo', Since: '' })
  expect(fileOf({ connected: false, state: 'ASLEEP' })).toMatchObject({ State: 'Asleep' })
})
