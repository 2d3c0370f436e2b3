// Only the message session of a node is cut, or hears nothing: reads stay strict, commands arrive, and followers get one reset.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { countCpuWaits } from '../../support/cpu-time.ts'
import { runCount } from '../../support/long-form.ts'
import { type FaultProxy, messageSession } from '../../support/nodes/fault-proxy.ts'
import { type NodeCluster, startSharedCluster } from '../../support/nodes/node-cluster.ts'
import { callAt, countNodes, newDevicesAt, newRoom } from '../../support/nodes/situation.ts'
import { CallLog } from '../../support/nodes/trial/call-log.ts'
import { RoamingFollower } from '../../support/nodes/trial/roaming-follower.ts'
import { until } from '../../support/program.ts'

/** How often a room is renamed at one node and read at the cut one, while it is cut and otherwise. */
const renameCount = runCount({ short: 8, full: 15, long: 50 })
const otherRenameCount = runCount({ short: 4, full: 10, long: 10 })
const commandWithinMs = 3000
const slackMs = 1000
/** A beat goes out every second, and the session is given up if none was heard for 3 s. */
const noticedWithinMs = 4000

let cluster: NodeCluster
beforeAll(async () => {
  cluster = await startSharedCluster(2)
})
afterAll(() => cluster.close())

/** A device and a follower of events at the first, and a room whose name is written at the other and read at the first. */
async function followedNode() {
  const [cut, other] = [cluster.node(0), cluster.node(1)]
  const [device] = await newDevicesAt(cluster, cut, 1)
  if (!device) throw new Error('a device was asked for')
  const room = await newRoom(cluster, other, 'name-0')
  const move = { body: { endpointIds: [device.id], roomId: room.id } }
  expect((await callAt(cluster, other, 'POST', '/endpoints/move_paired', move)).status).toBe(200)
  const follower = new RoamingFollower(cluster.org, cluster.key, () => cut, 600_000)
  onTestFinished(() => follower.stop())
  follower.start()
  await until('the follower follows', () => follower.opened === 1)
  const calls = new CallLog(cluster.org, cluster.key)
  onTestFinished(() => calls.close())

  const renameAndRead = async (name: string) => {
    const written = await calls.call(other, 'PUT', `/rooms/${room.id}`, { name })
    expect(written.record.outcome, written.text).toBe('done')
    for (const path of [`/endpoints/${device.id}`, `/rooms/${room.id}`]) {
      const { record, body, text } = await calls.call(cut, 'GET', path)
      expect(record.status, text).toBe(200)
      expect(body.roomName ?? body.name, path).toBe(name)
    }
  }
  /** The follower has every event, and was told once to read everything again. */
  const expectOneReset = async () => {
    const [{ count } = {}] = await cluster.query('select max(count) as count from audit_heads')
    await until('the follower has the last entry', () => follower.lastEntry === Number(count))
    expect(follower.items.filter(({ kind }) => kind === 'reset')).toHaveLength(1)
  }
  return { cut, other, device, follower, renameAndRead, expectOneReset }
}

test('reads stay strict, commands arrive within 3 s, and a follower gets one reset', async () => {
  const { cut, other, device, follower, renameAndRead, expectOneReset } = await followedNode()
  for (let i = 0; i < otherRenameCount; i++) await renameAndRead(`before-${i}`)
  expect(cut.proxy.sessions.filter(messageSession)).toHaveLength(1)

  cut.proxy.cut(messageSession)
  for (let i = 0; i < renameCount; i++) await renameAndRead(`cut-${i}`)
  const begun = performance.now()
  const cpuWaitMs = countCpuWaits(cut.pid, other.pid)
  const sent = await callAt(cluster, other, 'POST', '/endpoints/send_message', {
    body: { message: 'Hello.', endpointIds: [device.id] },
  })
  expect(sent.status, sent.text).toBe(200)
  expect((await device.next('operation')).message).toBe('Hello.')
  expect(performance.now() - begun).toBeLessThan(commandWithinMs + slackMs + cpuWaitMs())
  for (let i = 0; i < renameCount; i++) await renameAndRead(`still-${i}`)
  cut.proxy.mend()
  await until('the node listens again', () => cut.proxy.sessions.some(messageSession))

  await until('the follower is told', () => follower.items.some(({ kind }) => kind === 'reset'))
  for (let i = 0; i < otherRenameCount; i++) await renameAndRead(`after-${i}`)
  await expectOneReset()
})

test.each([
  ['is swallowed', (proxy: FaultProxy) => proxy.swallow(messageSession, 'toClient')],
  ['has answers but no notifications', (proxy: FaultProxy) => proxy.dropNotifications()],
])(
  'a node whose message session %s does not hear its own beat, and opens another session within 4 s',
  async (_, begin) => {
    const { cut, other, follower, renameAndRead, expectOneReset } = await followedNode()
    await renameAndRead('before')
    const begun = performance.now()
    const cpuWaitMs = countCpuWaits(cut.pid, other.pid)
    const outputBefore = cut.output.length
    begin(cut.proxy)
    for (let i = 0; i < otherRenameCount; i++) await renameAndRead(`unheard-${i}`)
    const isLost = () => cut.output.slice(outputBefore).includes('message session lost, connecting again')
    await until('the node gives its session up', isLost, { everyMs: 20 })
    expect(performance.now() - begun).toBeLessThan(noticedWithinMs + slackMs + cpuWaitMs())
    cut.proxy.mend()
    await until('the follower is told', () => follower.items.some(({ kind }) => kind === 'reset'))
    for (let i = 0; i < otherRenameCount; i++) await renameAndRead(`after-${i}`)
    await expectOneReset()
    expect(await countNodes(cluster, 'dead')).toBe(0)
  },
  60_000,
)
