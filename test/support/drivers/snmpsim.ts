// Runs Debian's snmpsim, which answers from a recorded walk, on ports of 127.0.0.1.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { need } from '../debian.ts'
import { freePort } from '../free-port.ts'

/** A user of SNMP version 3, each with an agent of its own. */
export interface SimulatedUser {
  readonly name: string
  readonly authProtocol: 'SHA' | 'SHA256'
  readonly privProtocol: 'AES256' | 'AES256BLMT'
  readonly authKey: string
  readonly privKey: string
}

export interface Snmpsim {
  /** One port for each user of version 3; without such users, one port. */
  readonly ports: readonly number[]
  stop(): Promise<void>
}

/** `walks` has lines "OID|type|value" by community. Users of version 3 get the walk of the community "public". */
export async function startSnmpsim(
  walks: Readonly<Record<string, string>>,
  users: readonly SimulatedUser[] = [],
): Promise<Snmpsim> {
  need('snmpsimd')
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-snmpsim-'))
  const [data, cache] = [join(folder, 'data'), join(folder, 'cache')]
  for (const path of [data, cache]) mkdirSync(path)
  for (const [community, walk] of Object.entries(walks)) writeFileSync(join(data, `${community}.snmprec`), walk)
  // snmpsimd refuses to run as root: it changes to another user, who must be able to write the index.
  const isRoot = process.getuid?.() === 0
  for (const path of isRoot ? [folder, cache] : []) chmodSync(path, 0o777)
  const ports: number[] = []
  const agents: string[] = []
  for (const user of users.length > 0 ? users : [undefined]) {
    const port = await freePort()
    ports.push(port)
    agents.push(`--v3-engine-id=80004fb8050000${port.toString(16).padStart(6, '0')}`, `--data-dir=${data}`)
    if (user) {
      // A request without a context is answered from the file that is named after the agent.
      writeFileSync(join(data, `1.3.6.1.6.1.1.${ports.length - 1}.snmprec`), walks.public as string)
      agents.push(`--v3-user=${user.name}`, `--v3-auth-proto=${user.authProtocol}`, `--v3-auth-key=${user.authKey}`)
      agents.push(`--v3-priv-proto=${user.privProtocol}`, `--v3-priv-key=${user.privKey}`)
    }
    agents.push(`--agent-udpv4-endpoint=127.0.0.1:${port}`)
  }
  const child = spawn(
    'snmpsimd',
    [
      ...(isRoot ? ['--process-user=nobody', '--process-group=nogroup'] : []),
      `--cache-dir=${cache}`,
      '--logging-method=stderr',
      ...agents,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.split('Listening at').length > ports.length) resolve()
    })
    void ended.then(() => reject(new Error(`snmpsimd ended: ${output}`)))
  })
  return {
    ports,
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
