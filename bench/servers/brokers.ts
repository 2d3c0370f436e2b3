// Brokers that stand beside our wire: aedes as it comes, which is the limit, and mosquitto, which somebody might use instead.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { need, pathOf } from '../../test/debian.ts'
import type { Ending } from '../cleanup.ts'
import { freePort } from './roomkeeper.ts'
import { Child } from './subprocess.ts'

export interface RunningBroker {
  readonly name: string
  readonly child: Child
  readonly port: number
}

export const bareName = 'bare aedes'
const bare = fileURLToPath(new URL('../bare/broker.ts', import.meta.url))

/** `node` are flags for Node itself. */
export async function startBare(ending: Ending, node: readonly string[] = []): Promise<RunningBroker> {
  const child = new Child('the bare broker', [...node, bare])
  ending.add(() => child.stop())
  const [, port] = await child.printed(/listening on (\d+)/)
  return { name: bareName, child, port: Number(port) }
}

/** Everybody may log in, nothing is stored; undefined where it cannot be had. */
export async function startMosquitto(ending: Ending): Promise<RunningBroker | undefined> {
  try {
    need('mosquitto', 'mosquitto')
  } catch (error) {
    process.stdout.write(`without mosquitto: ${(error as Error).message}\n`)
    return undefined
  }
  const port = await freePort()
  const file = join(ending.folder(), 'mosquitto.conf')
  const settings = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'log_dest stderr',
    'log_type information',
    // Started by root it would become somebody else, who need not be there.
    'user root',
  ]
  writeFileSync(file, settings.map((line) => `${line}\n`).join(''))
  const child = new Child('mosquitto', ['-c', file], pathOf('mosquitto'))
  ending.add(() => child.stop())
  await child.printed(/ running/)
  return { name: 'mosquitto', child, port }
}
