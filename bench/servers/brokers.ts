// MQTT brokers to compare with: aedes as published, which is the baseline, and mosquitto, which is a peer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { need, programPath } from '../../test/support/debian.ts'
import type { Cleanup } from '../cleanup.ts'
import { findFreePort } from './roomkeeper.ts'
import { Subprocess } from './subprocess.ts'

export interface RunningBroker {
  readonly name: string
  readonly process: Subprocess
  readonly port: number
}

export const bareBrokerName = 'bare aedes'
const bareBroker = fileURLToPath(new URL('../bare/broker.ts', import.meta.url))

/** `nodeFlags` are for Node itself. */
export async function startBareBroker(cleanup: Cleanup, nodeFlags: readonly string[] = []): Promise<RunningBroker> {
  const subprocess = new Subprocess('The bare broker', [...nodeFlags, bareBroker])
  cleanup.add(() => subprocess.stop())
  const [, port] = await subprocess.waitForOutput(/listening on (\d+)/)
  return { name: bareBrokerName, process: subprocess, port: Number(port) }
}

/** Accepts every login and stores nothing. Returns undefined where mosquitto cannot be installed. */
export async function startMosquitto(cleanup: Cleanup): Promise<RunningBroker | undefined> {
  try {
    need('mosquitto')
  } catch (error) {
    process.stdout.write(`mosquitto is left out: ${(error as Error).message}\n`)
    return undefined
  }
  const port = await findFreePort()
  const file = join(cleanup.tempFolder(), 'mosquitto.conf')
  const settings = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'log_dest stderr',
    'log_type information',
    // Started by root, mosquitto switches to a user that may not exist here.
    'user root',
  ]
  writeFileSync(file, settings.map((line) => `${line}\n`).join(''))
  const subprocess = new Subprocess('mosquitto', ['-c', file], programPath('mosquitto'))
  cleanup.add(() => subprocess.stop())
  await subprocess.waitForOutput(/ running/)
  return { name: 'mosquitto', process: subprocess, port }
}
