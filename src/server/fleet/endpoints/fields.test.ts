// The size of a listed endpoint: an answer can have ten thousand of them.
import { expect, test } from 'vitest'
import { deviceModel, makeStatus } from '../../../../bench/fixture/organisation.ts'
import { basicEndpointView, emptyGivenValues } from './fields.ts'

/** If the list needs more, the table of sizes in bench/README.md says why. */
const maxBytes = 259

test('an endpoint with a full status takes at most 259 bytes in the list [contract 4.endpointsBasicList]', () => {
  const { given_name: _, note: __, given_sleeps: ___, ...assets } = emptyGivenValues
  const view = basicEndpointView({
    ...assets,
    id: '5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11',
    serial: 'BENCH5000',
    model: deviceModel,
    name: null,
    pairing_serial: null,
    room_id: 1000,
    room_name: 'Room 1000',
    profile_id: null,
    via: null,
    source_type: null,
    status: makeStatus(5000),
    sensors_named: null,
    sensors_measured: 0,
    config_state: null,
    connected: 0,
    connection_time: null,
    state: 'OFFLINE',
    since: null,
  })
  expect(JSON.stringify(view).length + ','.length).toBeLessThanOrEqual(maxBytes)
})
