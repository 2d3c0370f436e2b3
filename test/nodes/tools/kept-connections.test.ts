// Tests that the checker of kept connections accepts ends that have another cause than an outage of PostgreSQL, and finds each planted mistake.
import { expect, test } from 'vitest'
import { checkKeptConnections } from '../../support/nodes/trial/checkers/kept-connections.ts'
import type { ConnectionRecord, FaultKind, FaultRecord } from '../../support/nodes/trial/histories.ts'

const connection = (endedAt: number, isEndedByDevice = false): ConnectionRecord => ({
  endpointId: 'device',
  node: 'node-1',
  connackAt: 1000,
  endedAt,
  isEndedByDevice,
})
const restarted: FaultRecord = { kind: 'restartPostgres', node: undefined, from: 60_000, to: 70_000 }
const failedOver: FaultRecord = { ...restarted, kind: 'failOver' }
const fault = (kind: FaultKind, from: number, to: number, node = 'node-1'): FaultRecord => ({ kind, node, from, to })

test.each([
  ['a connection that stays', connection(Number.POSITIVE_INFINITY), [restarted]],
  ['a connection that ended before the outage', connection(59_999), [restarted]],
  ['a connection that ended later', connection(72_001), [restarted]],
  ['a device that reboots during the outage', connection(65_000, true), [restarted]],
  ['a node that is killed during the outage', connection(65_000), [restarted, fault('kill', 65_000, 69_000)]],
  [
    'a node that was cut off before, and learns after the outage that it is dead',
    connection(71_000),
    [fault('cutDatabase', 40_000, 45_000), restarted],
  ],
])('%s is accepted', (_, ended, faults) => {
  expect(checkKeptConnections([ended], faults)).toEqual([])
})

test.each([
  ['during a restart', connection(65_000), [restarted], /node-1 disconnected device 5000 ms after .* restartPostgres/],
  ['during a failover', connection(65_000), [failedOver], /failOver/],
  ['just after a restart', connection(71_900), [restarted], /11900 ms/],
  ['while another node is killed', connection(65_000), [restarted, fault('kill', 64_000, 69_000, 'node-2')], /node-1/],
  ['long after a pause of its node', connection(65_000), [fault('pause', 5000, 25_000), restarted], /node-1/],
])('a device that is disconnected %s is found', (_, ended, faults, sentence) => {
  const problems = checkKeptConnections([ended], faults)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(sentence)
})
