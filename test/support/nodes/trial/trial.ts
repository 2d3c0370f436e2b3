// A trial: nodes, devices and callers at work while faults happen, and after that every promise is checked against the logs.
import { expect } from 'vitest'
import { CpuWaits } from '../../cpu-time.ts'
import { SeededChoices } from '../../endurance/random.ts'
import { until } from '../../program.ts'
import type { NodeCluster } from '../node-cluster.ts'
import { CallLog } from './call-log.ts'
import { checkAcknowledgedWrites } from './checkers/acknowledged-writes.ts'
import { answeredWithinMs, checkAnswerTimes } from './checkers/answer-times.ts'
import { checkEqualAnswers, type NodeAnswer } from './checkers/equal-answers.ts'
import { checkExecutions } from './checkers/executions.ts'
import { checkFollowedEvents } from './checkers/followed-events.ts'
import { checkKeptConnections } from './checkers/kept-connections.ts'
import { checkPresence } from './checkers/presence.ts'
import { checkRollups, checkSamples } from './checkers/samples.ts'
import { checkStrictReads } from './checkers/strict-reads.ts'
import { countUnfinished, readContent } from './database-content.ts'
import { DeviceFleet, type TrialFleetOptions } from './device-fleet.ts'
import { Faults } from './faults.ts'
import type { ConnectionRecord, FaultRecord } from './histories.ts'
import { RoamingFollower } from './roaming-follower.ts'
import { type WorkerPauses, Workers } from './workers.ts'

export interface TrialOptions extends TrialFleetOptions, WorkerPauses {
  readonly seed: number
  /** The follower of events changes node this often. */
  readonly followMs: number
  /** Is added where a promise is about time, with the time that the nodes and this process waited for a processor. */
  readonly slackMs: number
}

/** Done while everything works. */
export type FaultPlan = (faults: Faults, choices: SeededChoices) => Promise<void>

const maxShownProblems = 6

export class Trial {
  readonly cluster: NodeCluster
  readonly faults: Faults
  readonly calls: CallLog
  readonly #options: TrialOptions
  readonly #choices: SeededChoices

  constructor(cluster: NodeCluster, options: TrialOptions) {
    this.cluster = cluster
    this.faults = new Faults(cluster)
    this.calls = new CallLog(cluster.org, cluster.key)
    this.#options = options
    this.#choices = new SeededChoices(options.seed)
  }

  /** Runs the plan under load, waits until everything has come to rest, and returns the numbers of what was checked. */
  async run(plan: FaultPlan): Promise<Record<string, number>> {
    const { cluster, faults, calls } = this
    const options = this.#options
    const choices = this.#choices
    const fleet = await DeviceFleet.start(cluster, choices, options)
    const waits = new CpuWaits(() => [process.pid, ...cluster.running.map(({ pid }) => pid)])
    try {
      const firstEntry = (await readContent(cluster)).entries.length
      const pickNode = () => choices.pick(cluster.running.length > 0 ? cluster.running : cluster.nodes)
      const follower = new RoamingFollower(cluster.org, cluster.key, pickNode, options.followMs)
      follower.start()
      await until('the follower follows', () => follower.opened > 0)
      const workers = new Workers(calls, fleet, choices, () => cluster.nodes)
      workers.start(options)
      try {
        await plan(faults, new SeededChoices(options.seed + 1))
      } finally {
        await workers.stop()
      }
      // Whatever does not come to rest is one more problem beside those that the checkers find.
      const unrest = await this.#comeToRest(fleet).then(
        () => [],
        (error: Error) => [error.message],
      )
      const answers = await this.#sameReads(fleet)
      const content = await readContent(cluster)
      const lastEntry = content.entries.length
      const hasAll = () => follower.lastEntry === lastEntry || follower.items.at(-1)?.kind === 'reset'
      // If an event is missing, the checker says which.
      await until('the follower has everything', hasAll, { timeoutMs: 10_000 }).catch(() => {})
      await follower.stop()

      waits.stop()
      const waitedMs = waits.longestMs(answeredWithinMs)
      const slackMs = options.slackMs + waitedMs
      const { history: devices } = fleet
      const { history: work } = workers
      const resets = follower.items.filter(({ kind }) => kind === 'reset').length
      const range = { firstEntry, lastEntry, maxResets: countReasons(faults.records, cluster.nodes.length) }
      expectKept({
        rest: unrest,
        'acknowledged writes': checkAcknowledgedWrites(calls.records, content.entries),
        reads: checkStrictReads([...work.writes, ...devices.statusWrites], work.reads),
        commands: checkExecutions(devices, content.commands, work.commands),
        samples: checkSamples(devices.samples, content.samples),
        rollups: (['quarter', 'hour', 'day'] as const).flatMap((period) =>
          checkRollups(period, content.samples, content.rollups[period], content.due),
        ),
        presence: checkPresence(devices, work.presence, faults.records, slackMs),
        'kept connections': checkKeptConnections(devices.connections, faults.records),
        'answer times': checkAnswerTimes(calls.records, faults.records, answeredWithinMs + slackMs),
        'equal answers': checkEqualAnswers(answers),
        events: checkFollowedEvents(follower.items, range),
      })
      return {
        nodes: cluster.nodes.length,
        devices: fleet.devices.length,
        faults: faults.records.length,
        calls: calls.records.length,
        'acknowledged writes': calls.records.filter((c) => c.method !== 'GET' && c.outcome === 'done').length,
        'of unknown outcome': calls.records.filter((c) => c.method !== 'GET' && c.outcome === 'unknown').length,
        'checked reads': work.reads.length,
        'presence reads': work.presence.length,
        connections: devices.connections.length,
        'ended by nodes': devices.connections.filter(isEndedByNode).length,
        samples: devices.samples.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined).length,
        executions: devices.executions.length,
        events: follower.items.length - resets,
        resets,
        'ms of waiting for a processor, at most in 12 s': waitedMs,
      }
    } finally {
      waits.stop()
      fleet.stop()
      calls.close()
    }
  }

  /** Nothing is under way any more: devices are connected, commands have ended, rollups are made. */
  async #comeToRest(fleet: DeviceFleet): Promise<void> {
    const { cluster } = this
    await until('all nodes are ready', async () => (await Promise.all(cluster.nodes.map(isReady))).every(Boolean), {
      timeoutMs: 60_000,
      everyMs: 100,
    })
    await fleet.untilConnected()
    await fleet.comeToRest()
    let left = { commands: 0, quarters: 0 }
    await until(
      'commands have ended and rollups are made',
      async () => {
        left = await countUnfinished(cluster)
        return left.commands === 0 && left.quarters === 0
      },
      { timeoutMs: 90_000, everyMs: 250 },
    ).catch((error) => {
      throw new Error(`${error.message}: ${JSON.stringify(left)} are left`)
    })
    await fleet.untilConnected()
  }

  /** Asks every node for the same things. */
  async #sameReads({ rooms, endpointIds }: DeviceFleet): Promise<NodeAnswer[]> {
    const paths = ['/rooms', '/regions', '/endpoints', ...rooms.map(({ id }) => `/rooms/${id}`)]
    paths.push(...endpointIds.slice(0, 10).map((id) => `/endpoints/${id}`))
    const answers: NodeAnswer[] = []
    for (const path of paths) {
      for (const node of this.cluster.nodes) {
        const { record, etag, text } = await this.calls.call(node, 'GET', path)
        answers.push({ node: node.name, path, status: record.status, etag, text })
      }
    }
    return answers
  }
}

/**
 * A dead node is one reset, and an audit entry whose event died with it another one, when the others stop waiting for it. A fault of
 * PostgreSQL makes every node lose messages, and the follower visits all of them.
 */
const countReasons = (faults: readonly FaultRecord[], nodes: number): number =>
  faults.reduce((sum, { node }) => sum + (node === undefined ? nodes + 1 : 2), 0)

const isEndedByNode = ({ endedAt, isEndedByDevice }: ConnectionRecord) => Number.isFinite(endedAt) && !isEndedByDevice

const isReady = async ({ url }: { url: string }): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    (answer) => answer.status === 200,
    () => false,
  )

/** Fails with the broken promises, and some examples of each. */
function expectKept(problems: Readonly<Record<string, readonly string[]>>): void {
  const broken = Object.entries(problems).filter(([, found]) => found.length > 0)
  const shown = broken.map(([promise, found]) => [`${promise}: ${found.length}`, found.slice(0, maxShownProblems)])
  expect(Object.fromEntries(shown), 'broken promises').toEqual({})
}
