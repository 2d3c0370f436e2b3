// Watches the memory of a server whose devices only send their samples: after each collection its heap is as large as before.
import { setTimeout as pause } from 'node:timers/promises'
import WebSocket from 'ws'
import { freePort } from '../free-port.ts'
import { ready, type Site } from '../program.ts'
import { type EnduranceCounts, report } from './counts.ts'
import { inMebibytes } from './server-memory.ts'

export const deviceCount = 1000
/** V8 compiles code and the server prepares statements when they are first used, most of them in the first minutes. */
const warmUpMinutes = 5

/** The protocol of V8's inspector, as `node --inspect` serves it. */
class Inspector {
  readonly #socket: WebSocket
  #lastId = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async connect(port: number): Promise<Inspector> {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`)
    const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[]
    const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    return new Inspector(socket)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the protocol defines the results
  post(method: string, params = {}): Promise<any> {
    const id = ++this.#lastId
    this.#socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve) => {
      const listen = (data: WebSocket.RawData) => {
        const message = JSON.parse(`${data}`)
        if (message.id !== id) return
        this.#socket.off('message', listen)
        resolve(message.result)
      }
      this.#socket.on('message', listen)
    })
  }

  close(): void {
    this.#socket.close()
  }
}

interface Memory {
  /** After a collection. Without one, the heap also has garbage, which V8 leaves there for hours while there is little of it. */
  readonly heapUsed: number
  readonly rss: number
}

async function memoryOf(inspector: Inspector): Promise<Memory> {
  await inspector.post('HeapProfiler.collectGarbage')
  const expression = 'JSON.stringify(process.memoryUsage())'
  const { result } = await inspector.post('Runtime.evaluate', { expression, returnByValue: true })
  return JSON.parse(result.value)
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

export interface QuietFigures {
  /** How many devices are connected at the end. */
  readonly connected: number
  /** Used heap after a collection, in the last quarter of the time divided by the first. */
  readonly heapGrowth: number
  /** Memory of the process, likewise. */
  readonly memoryGrowth: number
}

export async function quietServer(
  site: Site,
  { minutes, seed }: Pick<EnduranceCounts, 'seed'> & { readonly minutes: number },
): Promise<QuietFigures> {
  const inspectorPort = await freePort()
  const server = await ready(
    site.launch(['serve', '--port', '0', ...site.flags], { node: [`--inspect=127.0.0.1:${inspectorPort}`] }),
  )
  const { url, org, key } = server
  const fleet = ['--endpoints', `${deviceCount}`, '--rooms', '400', '--state', `${site.dataDir}/fleet.json`]
  const simulator = site.launch(['simulate', '--url', url, '--org', org, '--key', key, ...fleet])
  await simulator.printed(/1,000 of 1,000 devices/, 'stdout', 600_000)
  const inspector = await Inspector.connect(inspectorPort)
  const samples: Memory[] = []
  try {
    for (let minute = 0; minute < warmUpMinutes + minutes; minute++) {
      await pause(60_000)
      const memory = await memoryOf(inspector)
      if (minute >= warmUpMinutes) samples.push(memory)
    }
  } finally {
    inspector.close()
  }
  const quarter = Math.floor(samples.length / 4)
  const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)].map((some) => ({
    heapUsed: median(some.map(({ heapUsed }) => heapUsed)),
    rss: median(some.map(({ rss }) => rss)),
  })) as [Memory, Memory]
  const connected = /^roomkeeper_devices_connected (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
  report('quiet server', seed, {
    minutes,
    devices: connected ?? '?',
    'used heap in the first quarter': inMebibytes(first.heapUsed),
    'in the last': inMebibytes(last.heapUsed),
    'grown by %': ((100 * last.heapUsed) / first.heapUsed - 100).toFixed(2),
    'memory in the first quarter': inMebibytes(first.rss),
    'of the process in the last': inMebibytes(last.rss),
    'memory grown by %': ((100 * last.rss) / first.rss - 100).toFixed(2),
  })
  return {
    connected: Number(connected),
    heapGrowth: last.heapUsed / first.heapUsed,
    memoryGrowth: last.rss / first.rss,
  }
}
