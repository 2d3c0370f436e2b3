// The checker of presence accepts what the devices' logs explain and finds each planted mistake.
import { expect, test } from 'vitest'
import { checkPresence } from '../../support/nodes/trial/checkers/presence.ts'
import type { ConnectionRecord, FaultKind, FaultRecord, PresenceRead } from '../../support/nodes/trial/histories.ts'

const connection = (node: string, connackAt: number, endedAt = Number.POSITIVE_INFINITY): ConnectionRecord => ({
  endpointId: 'device',
  node,
  connackAt,
  endedAt,
})
const read = (isConnected: boolean, invokedAt: number): PresenceRead => ({
  endpointId: 'device',
  isConnected,
  node: 'node-2',
  invokedAt,
  endedAt: invokedAt + 10,
})
const fault = (kind: FaultKind, from: number, to: number, node: string | undefined = 'node-1'): FaultRecord => ({
  kind,
  node,
  from,
  to,
})

const [first, second] = [connection('node-1', 1000, 5000), connection('node-2', 7000)]
/** The connection ends when the fault begins. */
const killed = fault('kill', 5000, 9000)
const paused = fault('pause', 5000, 25_000)
const restarted: FaultRecord = { ...fault('restartPostgres', 5000, 15_000), node: undefined }
const open = connection('node-1', 1000)

/** Each connection begins with its CONNACK. An infinite one never came. */
const check = (all: ConnectionRecord[], reads: PresenceRead[], faults: FaultRecord[]) =>
  checkPresence(
    {
      connections: all.filter(({ connackAt }) => Number.isFinite(connackAt)),
      attempts: all.map(({ connackAt, ...rest }) => ({
        ...rest,
        begunAt: Number.isFinite(connackAt) ? connackAt : 6000,
      })),
    },
    reads,
    faults,
  )
/** A CONNECT at 6000 without an answer. */
const unanswered = connection('node-2', Number.POSITIVE_INFINITY, 8000)

test.each([
  ['connected while connected', [first], [read(true, 2000)], []],
  ['offline before the first connection', [first], [read(false, 500)], []],
  ['either while the connection ends', [first], [read(true, 4995), read(false, 4995)], []],
  ['offline between two connections', [first, second], [read(false, 6000)], []],
  ['connected for 6 s after a kill', [first], [read(true, 10_900)], [killed]],
  ['connected for 16 s after a pause', [first], [read(true, 20_900)], [paused]],
  ['connected while a CONNACK is on its way', [first, unanswered], [read(true, 7900)], []],
  [
    'connected after a CONNECT to a node that is cut off and never answers',
    [first, unanswered],
    [read(true, 20_000)],
    [fault('swallowDatabase', 6000, 9000, 'node-2')],
  ],
  ['offline while its node is frozen', [open], [read(false, 21_000)], [paused]],
  ['offline for 20 s after a pause', [open], [read(false, 44_900)], [paused]],
  [
    'offline for longer if PostgreSQL is away before the node can notice its death',
    [open],
    [read(false, 54_900)],
    [paused, { ...restarted, from: 26_000, to: 36_000 }],
  ],
  ['connected for longer while PostgreSQL is away', [first], [read(true, 28_000)], [restarted]],
])('%s is accepted', (_, connections, reads, faults) => {
  expect(check(connections, reads, faults)).toEqual([])
})

test.each([
  ['connected 2 s after its end', [first], [read(true, 7000)], [], /connected 2000 ms after its end/],
  [
    'connected 2 s after a CONNECT that failed',
    [first, unanswered],
    [read(true, 10_000)],
    [],
    /2000 ms after its end at/,
  ],
  ['connected 7 s after a kill', [first], [read(true, 12_000)], [killed], /connected 7000 ms after its end/],
  ['connected 17 s after a pause', [first], [read(true, 22_000)], [paused], /connected 17000 ms after its end/],
  ['connected before it ever was', [], [read(true, 100)], [], /connected before it ever was/],
  ['offline after its CONNACK', [first], [read(false, 1001)], [], /offline 1 ms after its CONNACK at node-1/],
  [
    'marked offline by its old node',
    [first, second],
    [read(false, 8000)],
    [],
    /offline 1000 ms after its CONNACK at node-2/,
  ],
  ['offline 21 s after a pause', [open], [read(false, 46_000)], [paused], /offline 45000 ms after its CONNACK/],
  ['offline 1 s after a restart of PostgreSQL', [open], [read(false, 16_000)], [restarted], /CONNACK at node-1/],
  [
    'connected 2 s after its end, long after a pause',
    [connection('node-1', 1000, 46_000)],
    [read(true, 48_000)],
    [paused],
    /connected 2000 ms after its end/,
  ],
  ['offline at a node that no fault concerns', [first, second], [read(false, 8000)], [killed], /CONNACK at node-2/],
])('a device that is %s is found', (_, connections, reads, faults, sentence) => {
  const problems = check(connections, reads, faults)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(sentence)
})
