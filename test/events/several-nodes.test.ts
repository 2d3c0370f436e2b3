// Tests that the event feeds of several nodes have one order, through deaths, cuts, starts and followers that change node. [contract 6.events]
import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { generatedRuns } from '../support/long-form.ts'
import { findMistakes } from '../support/nodes/check-follower.ts'
import { EventCluster, retainedAt, TestFollower, type TestNode } from '../support/nodes/event-cluster.ts'
import { SharedTestBus } from '../support/nodes/shared-bus.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

interface Step {
  readonly do: 'change' | 'report' | 'move' | 'wait' | 'command' | 'start' | 'kill' | 'cut' | 'cutAll'
  readonly at: number
  readonly afterMs: number
}
const stepOf = (action: Step['do'], maxMs: number): fc.Arbitrary<Step> =>
  fc.record({ do: fc.constant(action), at: fc.nat(100), afterMs: fc.nat(maxMs) })
/** A change is confirmed up to 150 ms after its commit, so that a later one can overtake it. */
const peaceful = fc.oneof(
  stepOf('change', 150),
  stepOf('report', 0),
  stepOf('move', 100),
  stepOf('wait', 300),
  stepOf('command', 0),
)
const troubled = fc.oneof(
  { weight: 15, arbitrary: peaceful },
  {
    weight: 2,
    arbitrary: fc.oneof(stepOf('start', 0), stepOf('kill', 3000), stepOf('cut', 3000), stepOf('cutAll', 3000)),
  },
)
const delayList = fc.array(fc.nat(40), { minLength: 5, maxLength: 20 })

interface Run {
  readonly cluster: EventCluster
  readonly followers: readonly TestFollower[]
  faults: number
  starts: number
}

async function begin(nodeCount: number, delays: readonly number[] = [3]): Promise<Run> {
  let sent = 0
  const cluster = new EventCluster(new SharedTestBus(() => delays[sent++ % delays.length] ?? 0))
  onTestFinished(() => cluster.stop())
  const starting = Promise.all(Array.from({ length: nodeCount }, () => cluster.startNode()))
  await pass(500)
  await starting
  const followers = cluster.nodes.map(() => new TestFollower(cluster))
  for (const [i, follower] of followers.entries()) void follower.move(cluster.nodes[i] as TestNode)
  await pass(500)
  return { cluster, followers, faults: 0, starts: 0 }
}

async function play(steps: readonly Step[], delays: readonly number[]): Promise<Run> {
  const run = await begin(3, delays)
  const { cluster, followers } = run
  for (const [i, step] of steps.entries()) {
    await perform(run, step)
    for (const follower of followers) if (follower.node?.port.isDead) void follower.move(someNode(cluster, i))
  }
  for (const { port } of cluster.living) port.mend()
  await pass(10_000)
  for (const [i, follower] of followers.entries()) if (!follower.isFollowing) void follower.move(someNode(cluster, i))
  await pass(10_000)
  return run
}

const someNode = ({ living }: EventCluster, at: number): TestNode => living[at % living.length] as TestNode

async function perform(run: Run, { do: action, at, afterMs }: Step): Promise<void> {
  const { cluster, followers } = run
  const node = someNode(cluster, at)
  if (action === 'change') node.change(afterMs)
  else if (action === 'report') node.report()
  else if (action === 'move') void followers[at % followers.length]?.move(someNode(cluster, afterMs))
  else if (action === 'wait') await pass(afterMs)
  else if (action === 'command') await cluster.runCommand()
  else if (action === 'start' && cluster.living.length < 5) {
    void cluster.startNode()
    run.starts++
  } else if (action === 'kill' && cluster.living.length > 1) {
    cluster.kill(node, afterMs)
    run.faults++
  } else if (action === 'cut' || action === 'cutAll') {
    for (const { port } of action === 'cut' ? [node] : cluster.living) {
      port.cut()
      setTimeout(() => port.mend(), afterMs)
    }
    run.faults++
  }
}

const mistakesOf = ({ cluster, followers }: Run): string[] =>
  followers.flatMap((follower) => findMistakes(follower.heard, cluster))

test('followers that change node all the time hear every event once, in the order of the audit log, without a reset', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(peaceful, { minLength: 30, maxLength: 120 }), delayList, async (steps, delays) => {
      const run = await play(steps, delays)
      expect(mistakesOf(run)).toEqual([])
      for (const { resets, isFollowing } of run.followers) expect([resets, isFollowing]).toEqual([0, true])
      run.cluster.stop()
    }),
    { ...generatedRuns({ short: 20, full: 40, long: 2000 }), endOnFailure: true },
  )
})

test('after starts, deaths and cuts of nodes no event is missing and none comes twice, except at a reset', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(troubled, { minLength: 40, maxLength: 160 }), delayList, async (steps, delays) => {
      const run = await play(steps, delays)
      expect(mistakesOf(run)).toEqual([])
      for (const { resets, isFollowing } of run.followers) {
        expect(isFollowing).toBe(true)
        // The death of a node is a reset, and so is an audit entry that died with it. A new node knows no earlier ids.
        expect(resets).toBeLessThanOrEqual(2 * (run.faults + run.starts))
      }
      const retained = run.cluster.living.map(retainedAt)
      const longest = retained.reduce((a, b) => (a.length >= b.length ? a : b))
      for (const text of retained) expect(longest.endsWith(text), `${longest}\n---\n${text}`).toBe(true)
      run.cluster.stop()
    }),
    { ...generatedRuns({ short: 30, full: 80, long: 4000 }), endOnFailure: true },
  )
})

const resetsOf = ({ followers }: Run): number[] => followers.map(({ resets }) => resets)

test('an audit entry whose event does not come holds back the later ones for a second, and is a reset then', async () => {
  const run = await begin(3)
  const [first, second] = run.cluster.nodes as [TestNode, TestNode]
  first.change(800)
  second.change(0)
  await pass(700)
  for (const { heard } of run.followers) expect(heard.map(({ what }) => what)).toEqual(['begin'])
  await pass(500)
  for (const { heard } of run.followers) expect(heard.map(({ number }) => number)).toEqual([0, 1, 2])
  first.change(5000)
  second.change(0)
  await pass(900)
  expect(resetsOf(run)).toEqual([0, 0, 0])
  await pass(600)
  expect(resetsOf(run)).toEqual([1, 1, 1])
  await pass(10_000)
  expect(mistakesOf(run)).toEqual([])
})

test('nodes that all lost their messages begin together, also if some of them lose them again at once', async () => {
  const run = await begin(3)
  const [first, third, second] = run.cluster.nodes as [TestNode, TestNode, TestNode]
  for (const { port } of run.cluster.nodes) port.cut()
  await pass(100)
  for (const { port } of run.cluster.nodes) port.mend()
  third.port.cut()
  second.report()
  await pass(105)
  second.report()
  first.port.cut()
  first.port.mend()
  await pass(20)
  third.port.mend()
  await pass(5)
  second.report()
  await pass(10_000)
  expect(mistakesOf(run)).toEqual([])
  for (const { isFollowing, resets } of run.followers) expect([isFollowing, resets]).toEqual([true, 1])
})

test('the death of a node, and the loss of its messages, is one reset for each follower', async () => {
  const run = await begin(4)
  const [dying, cut] = run.cluster.nodes as [TestNode, TestNode]
  for (const node of run.cluster.nodes) node.report()
  await pass(500)
  dying.report()
  run.cluster.kill(dying, 5000)
  await pass(6000)
  expect(resetsOf(run).slice(1)).toEqual([1, 1, 1])
  cut.port.cut()
  cut.report()
  await pass(3000)
  cut.port.mend()
  await pass(3000)
  expect(resetsOf(run).slice(1)).toEqual([2, 2, 2])
  cut.report()
  await pass(500)
  expect(run.followers.slice(1).map(({ heard }) => heard.at(-1)?.number)).toEqual([3, 3, 3])
})

test('a stream waits for the answers of all nodes; a node that answers late is a reset', async () => {
  const run = await begin(2)
  const { cluster } = run
  const late = cluster.nodes[1] as TestNode
  for (const follower of run.followers) follower.leave()
  await pass(130_000)
  expect(cluster.nodes.map(({ feed }) => feed.forOrg(7).isFollowed())).toEqual([false, false])
  late.port.cut()
  const follower = new TestFollower(cluster)
  void follower.move(cluster.nodes[0] as TestNode)
  await pass(1500)
  expect(follower.isFollowing).toBe(false)
  await pass(1000)
  expect(follower.isFollowing).toBe(true)
  late.report()
  await pass(500)
  late.port.mend()
  await pass(1000)
  expect(follower.heard.map(({ what }) => what)).toEqual(['begin', 'reset'])
  late.report()
  await pass(500)
  expect(findMistakes(follower.heard, cluster)).toEqual([])
})

test('a stopped node that answers when it goes on is a reset', async () => {
  const { cluster, followers } = await begin(2)
  for (const follower of followers) follower.leave()
  await pass(130_000)
  const [first, stopped] = cluster.nodes as [TestNode, TestNode]
  stopped.port.pause(4000)
  const follower = new TestFollower(cluster)
  void follower.move(first)
  await pass(3000)
  expect(follower.isFollowing).toBe(true)
  stopped.report()
  await pass(2000)
  expect(follower.heard.map(({ what }) => what)).toEqual(['begin', 'reset'])
})

test('a node that starts while an audit entry is missing has the same events as the others', async () => {
  const { cluster } = await begin(2, [30])
  const [first, second] = cluster.nodes as [TestNode, TestNode]
  first.change(600)
  second.change(0)
  await pass(300)
  // These events are sent after the message of the new node, and heard before the answer to it.
  second.change(0)
  second.report()
  await pass(90)
  void cluster.startNode()
  await pass(160)
  const third = cluster.nodes[2] as TestNode
  const follower = new TestFollower(cluster)
  void follower.move(third)
  await pass(2000)
  expect(retainedAt(third)).toMatch(/"id":"1".*"id":"2".*"id":"3"/s)
  expect(retainedAt(first)).toBe(retainedAt(third))
})

test('nodes send nothing for an organisation that is followed nowhere, and everything until two minutes after its last follower', async () => {
  const run = await begin(3)
  const isFollowed = () => run.cluster.nodes.map(({ feed }) => feed.forOrg(7).isFollowed())
  const isOtherFollowed = () => run.cluster.nodes.map(({ feed }) => feed.forOrg(8).isFollowed())
  expect(isFollowed()).toEqual([true, true, true])
  expect(isOtherFollowed()).toEqual([false, false, false])
  const [first, ...others] = run.followers as [TestFollower, ...TestFollower[]]
  for (const follower of others) follower.leave()
  await pass(200_000)
  expect(isFollowed()).toEqual([true, true, true])
  first.leave()
  await pass(115_000)
  expect(isFollowed()).toEqual([true, true, true])
  await pass(10_000)
  expect(isFollowed()).toEqual([false, false, false])
})

test('a node that ends without a message is found by its row', async () => {
  const run = await begin(3)
  const [dying] = run.cluster.nodes as [TestNode]
  dying.port.die()
  dying.stop()
  run.cluster.up.delete(dying.id)
  await pass(12_000)
  expect(resetsOf(run).slice(1)).toEqual([1, 1])
})

test('a bus that loses messages silently, and an unnoticed death of a node, are found', async () => {
  const lossy = await begin(3)
  const [first, second] = lossy.cluster.nodes as [TestNode, TestNode]
  first.port.cut()
  second.change(0)
  await pass(1000)
  first.port.mendSilently()
  await pass(5000)
  expect(mistakesOf(lossy)).toEqual(['end: entry 1 is missing, the last one is 0'])
  const unnoticed = await begin(3)
  const [dying] = unnoticed.cluster.nodes as [TestNode]
  dying.report()
  dying.port.die()
  dying.stop()
  await pass(20_000)
  expect(mistakesOf({ ...unnoticed, followers: unnoticed.followers.slice(1) })).toEqual(
    Array(2).fill(`end: report of node ${dying.id} 1 is missing, the last one is 0`),
  )
})
