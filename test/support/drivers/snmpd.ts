// Runs Debian's snmpd on a port of 127.0.0.1, with a configuration of the test.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { need } from '../debian.ts'
import { freePort } from '../free-port.ts'

export interface Snmpd {
  readonly port: number
  /** Stops the process without an end: it keeps its port and stays silent, like a device behind a dead cable. */
  freeze(): void
  thaw(): void
  /** Starts it again on the same port, with another configuration if there is one. */
  restart(config?: string): Promise<void>
  stop(): Promise<void>
}

export async function startSnmpd(config: string): Promise<Snmpd> {
  need('snmpd')
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-snmpd-'))
  const file = join(folder, 'snmpd.conf')
  const port = await freePort()
  const start = async (text: string) => {
    writeFileSync(file, text)
    // snmpd stays in the foreground, reads no other configuration, and keeps users and the number of its starts in the folder.
    const args = ['-f', '-Lo', '-C', '-c', file, `udp:127.0.0.1:${port}`]
    const env = { ...process.env, SNMP_PERSISTENT_DIR: folder, SNMPCONFPATH: folder, MIBS: '' }
    const child = spawn('snmpd', args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    let output = ''
    await new Promise<void>((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes('NET-SNMP version')) resolve()
      })
      void ended.then(() => reject(new Error(`snmpd ended: ${output}`)))
    })
    return { child, ended }
  }
  let present = config
  let running = await start(present)
  const end = async () => {
    running.child.kill('SIGCONT')
    running.child.kill('SIGTERM')
    await running.ended
  }
  return {
    port,
    freeze: () => void running.child.kill('SIGSTOP'),
    thaw: () => void running.child.kill('SIGCONT'),
    async restart(next = present) {
      await end()
      present = next
      running = await start(present)
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
