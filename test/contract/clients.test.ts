// The promises that real clients depend on, marked [clients] in docs/contract.md, and the tests that hold them.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Proof = readonly [file: string, ...tests: string[]]
const answers = (...tests: string[]): Proof => ['test/contract/client-answers.process.test.ts', ...tests]
const walk = (...tests: string[]): Proof => ['test/contract/walk.http.test.ts', ...tests]
const walkRequests = (...tests: string[]): Proof => ['test/contract/walk-requests.http.test.ts', ...tests]
const noun = (path: string, ...tests: string[]): Proof => [`src/server/${path}.test.ts`, ...tests]

/** One line for each mark, in the order of the document: its rule, what it promises, and who proves it. */
const promises: readonly (readonly [rule: string, promise: string, ...proofs: Proof[]])[] = [
  [
    '1.1',
    'every operation answers under /v1 and under /api/v1, with two differences',
    walk('succeeds on both bases'),
    noun('sensors/sensors.http', 'under the legacy base the shutter is beside the sample only'),
  ],
  [
    '1.1',
    'a doubled leading slash does no harm',
    ['test/http/basics.http.test.ts', 'a doubled leading slash is tolerated'],
  ],
  [
    '1.2',
    'success is 200 with a JSON object that has no message beside a status',
    walk('succeeds on both bases'),
    walkRequests('no success has both the keys message and status'),
    answers('every operation answers an object, never a bare array'),
  ],
  ['1.3', 'lists are wrapped in a named key', answers('every list is wrapped in the key that clients read')],
  ['1.4', '64-bit integers are strings, 32-bit ones numbers, bytes base64', answers('large numbers are strings')],
  ['1.6', 'times are RFC 3339, two of them Unix seconds in a string', answers('times are RFC 3339 with milliseconds')],
  ['1.7', 'no body is needed, with or without a content type', walk('succeeds on both bases')],
  ['1.7', 'unknown keys are ignored', walk('succeeds on both bases')],
  ['2.1', 'an error has status, message and violations', answers('an error has its status, a message and')],
  [
    '2.2',
    'a state that forbids it: Operation preconditions not met',
    answers('the message about a state that forbids a request begins with'),
  ],
  [
    '2.2',
    'what is not there: Requested resource not found',
    answers('the message about a missing resource begins with'),
  ],
  ['2.2', 'Retry-After in whole seconds', ['test/http/auth.http.test.ts', 'is a token bucket: a burst, then 429']],
  [
    '4.endpointsSettings',
    'the flat config: what was set, without what the profile locks, with what the device reports, without passwords',
    noun(
      'fleet/configs/configs.http',
      'read-only keys are shown as the device reports them',
      'a password is taken, and never',
    ),
    noun('fleet/configs/configs.http', 'endpointsApplyConfig changes the sent keys only'),
    noun('fleet/configs/overlay.http', 'the profile wins; what it hides stays stored'),
    noun('fleet/configs/reported.http', 'keys that the device reports come last', 'a reported password, unknown key'),
    ['test/contract/monitoring-adapter.http.test.ts', 'every control is offered on a fleet'],
  ],
  [
    '4.endpointsApplyConfig',
    'numbers keep their text',
    noun('fleet/configs/configs.http', 'the number %s is answered as it was'),
  ],
  [
    '4.endpointsApplyConfig',
    'the exact words of a conflict with a profile',
    noun('fleet/configs/overlay.http', 'a key that the profile locks cannot be applied'),
    ['test/contract/mcp.process.test.ts', 'works through the official client'],
  ],
  [
    '4.endpointsSensorData',
    'no sample yet is a 404',
    noun('sensors/sensors.http', 'endpointsSensorData of an endpoint without a sample'),
  ],
  ['4.roomsBulkSensorData', 'every room has an entry', noun('sensors/sensors.http', 'roomsBulkSensorData fails while')],
  ['5.1.networks', 'parts of a network that are always there', answers('networks are complete, or there are none')],
  [
    '5.1.actions',
    'a message that a device cannot show is no error',
    noun('fleet/endpoints/device-actions.http', 'a message to a device without a screen is SKIPPED'),
  ],
  [
    '5.1.actions',
    'logs that a device does not have are no error',
    noun('fleet/endpoints/device-actions.http', 'logs of a device that cannot send any are SKIPPED'),
  ],
  [
    '5.1.actions',
    'a paired device that cannot reboot is no error',
    noun('fleet/endpoints/device-actions.http', 'a reboot of such a device alone is refused; paired'),
  ],
  [
    '5.2',
    'every field of a sample is there, 0 where nothing was measured',
    noun('sensors/sensors.http', 'endpointsSensorData gives the one latest sample with every field'),
    answers('a sample under the legacy base has exactly eight keys'),
  ],
  ['5.4.room', 'a room in a list has id and name', noun('fleet/rooms/rooms.http', 'roomsList shows where a room is')],
  [
    '5.4.room',
    'a room read alone has its endpoints, and for keys with Write its enrolment code',
    noun('fleet/rooms/rooms.http', 'roomsGet shows location, region, profile'),
    noun('fleet/rooms/fields.http', 'roomsCreate answers with the enrolment code'),
    noun('fleet/rooms/fields.http', 'an enrolment code expires decTimeout hours after its first use'),
  ],
  [
    '6.rooms',
    'an absent locationId clears it',
    noun('fleet/rooms/rooms.http', 'roomsUpdate sets name and location, and an'),
  ],
  ['6.rooms', 'deleting a room unenrols', noun('fleet/rooms/rooms.http', 'roomsDelete unenrols its endpoints')],
  ['6.messages', 'never FAILED_PRECONDITION', answers('a message is never refused for a state')],
  [
    '6.csv',
    'a list is JSON for clients that accept anything',
    ['test/contract/list-csv.http.test.ts', 'is JSON for callers who accept anything'],
  ],
  [
    '12.when',
    'no body and unknown keys mean now',
    noun('fleet/commands/deferred/deferred.db', 'a reboot with the body %j happens now'),
  ],
  [
    '13.rooms',
    'roomsDelete of the room of a gateway needs no further parameter',
    noun('fleet/gateways/enrolment.http', 'roomsDelete takes a gateway with its items'),
  ],
]

const root = new URL('../..', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8')

test('every promise to clients in docs/contract.md stands in the table above, in its order', () => {
  const rules = textOf('docs/contract.md').split(/^\*\*\[contract ([\w.]+)\]\*\*/m)
  const marked = rules.flatMap((rule, n) =>
    n % 2 === 0 ? [] : Array.from((rules[n + 1] ?? '').matchAll(/\*\*\[clients\]\*\*/g), () => rule),
  )
  expect(promises.map(([rule]) => rule)).toEqual(marked)
})

test('every test that the table names exists', () => {
  const isTitle = /^\s*(?:test(?:\.each\(.*\))?\(|\]\)\(|['"`])/
  for (const [file, ...names] of promises.flatMap(([, , ...proofs]) => proofs)) {
    const lines = textOf(file).split('\n')
    for (const name of names) {
      const found = lines.some((line) => isTitle.test(line) && line.includes(name))
      expect(found, `${file} has no test "${name}": name the one that proves it now`).toBe(true)
    }
  }
})
