// A gateway with the drivers of the program as a process that measures itself: it prints its memory and its longest turn as lines of JSON.
// Its arguments: address, folder, code.
import { driverTable } from '../../../src/gateway/driver-table.ts'
import { GatewayFolder } from '../../../src/gateway/folder.ts'
import { runGateway } from '../../../src/gateway/gateway.ts'
import { parseRange, Reach } from '../../../src/gateway/reach.ts'

export interface OwnCosts {
  /** In use after a collection of garbage. */
  readonly bytes: number
  /** CPU time of the longest turn of the event loop since the line before, without the collection of this measurement. */
  readonly longestTurnMs: number
}

/** A collection of garbage takes tens of milliseconds of CPU. */
const measureEveryMs = 1_000
/** Every turn that takes longer is seen. */
const turnMs = 5

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function measure(collectGarbage: () => void): void {
  let lastMs = cpuMs()
  let longestTurnMs = 0
  const countTurn = () => {
    const nowMs = cpuMs()
    longestTurnMs = Math.max(longestTurnMs, nowMs - lastMs)
    lastMs = nowMs
  }
  setInterval(countTurn, turnMs)
  setInterval(() => {
    countTurn()
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    process.stdout.write(`${JSON.stringify({ bytes: heapUsed + external, longestTurnMs } satisfies OwnCosts)}\n`)
    longestTurnMs = 0
    lastMs = cpuMs()
  }, measureEveryMs)
}

const [url = '', folder = '', code] = process.argv.slice(2)
measure(globalThis.gc as () => void)
await runGateway(
  {
    url,
    code,
    folder: GatewayFolder.open(folder),
    reach: new Reach([parseRange('127.0.0.1')]),
    version: '0.0.0-test',
    drivers: driverTable,
    sources: {},
    log: () => {},
  },
  new AbortController().signal,
)
