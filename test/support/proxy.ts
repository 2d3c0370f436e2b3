// Runs the example of a reverse proxy in deploy/ as it is, with ports and files of a test instead of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { programPath } from './debian.ts'
import { freePort } from './free-port.ts'
import { until } from './program.ts'

const deploy = join(import.meta.dirname, '../../deploy')

export interface ProxyTargets {
  readonly folder: string
  readonly httpPort: number
  readonly mqttPort: number
  readonly tls: { readonly cert: string; readonly key: string }
}

export interface RunningProxy {
  readonly http: number
  readonly https: number
  /** MQTT over TLS, where the example has it. */
  readonly mqtts: number
  close(): Promise<void>
}

interface Kind {
  readonly example: string
  /** Replaces the addresses of the example; every replacement must find its text. */
  readonly replacements: (targets: ProxyTargets, ports: Omit<RunningProxy, 'close'>) => readonly [string, string][]
  readonly whole: (text: string, folder: string) => string
  readonly command: (config: string, folder: string) => readonly [string, ...string[]]
}

export const proxyKinds: Readonly<Record<'nginx' | 'haproxy', Kind>> = {
  nginx: {
    example: 'nginx.conf',
    replacements: ({ httpPort, tls }, { http, https }) => [
      ['listen 80;', `listen 127.0.0.1:${http};`],
      ['listen 443 ssl', `listen 127.0.0.1:${https} ssl`],
      ['server 127.0.0.1:8080;', `server 127.0.0.1:${httpPort};`],
      ['/etc/ssl/rooms.example.org.pem', tls.cert],
      ['/etc/ssl/rooms.example.org.key', tls.key],
    ],
    // Debian's nginx.conf includes the files of sites-enabled in a block like this.
    whole: (text, folder) => `pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 256; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n')}
${text}
}`,
    command: (config, folder) => ['nginx', '-p', folder, '-c', config, '-g', 'daemon off; user root;'],
  },
  haproxy: {
    example: 'haproxy.cfg',
    replacements: ({ httpPort, mqttPort, tls }, { http, https, mqtts }) => [
      ['bind :80', `bind 127.0.0.1:${http}`],
      ['bind :443 ssl crt /etc/ssl/rooms.example.org.pem', `bind 127.0.0.1:${https} ssl crt ${tls.cert}.both`],
      ['bind :8883 ssl crt /etc/ssl/rooms.example.org.pem', `bind 127.0.0.1:${mqtts} ssl crt ${tls.cert}.both`],
      ['server roomkeeper 127.0.0.1:8080', `server roomkeeper 127.0.0.1:${httpPort}`],
      ['server roomkeeper 127.0.0.1:1883', `server roomkeeper 127.0.0.1:${mqttPort}`],
      ['maxconn 65536', 'maxconn 256'],
    ],
    whole: (text) => text,
    command: (config) => ['haproxy', '-db', '-f', config],
  },
}

/** Starts the proxy and waits until it accepts connections. */
export async function startProxy(kind: Kind, targets: ProxyTargets): Promise<RunningProxy> {
  const ports = { http: await freePort(), https: await freePort(), mqtts: await freePort() }
  const folder = join(targets.folder, kind.example)
  mkdirSync(folder)
  const { cert, key } = targets.tls
  writeFileSync(`${cert}.both`, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'), { mode: 0o600 })
  const example = readFileSync(join(deploy, kind.example), 'utf8')
  const replacements = new Map(kind.replacements(targets, ports))
  for (const before of replacements.keys()) {
    if (!example.includes(before)) throw new Error(`deploy/${kind.example} does not contain "${before}".`)
  }
  // All at once: a port that was put in can begin like one that is still to be replaced.
  const found = new RegExp([...replacements.keys()].map((before) => RegExp.escape(before)).join('|'), 'g')
  const text = example.replaceAll(found, (before) => replacements.get(before) ?? before)
  const config = join(folder, 'proxy.conf')
  writeFileSync(config, kind.whole(text, folder))
  const [program, ...args] = kind.command(config, folder)
  const child = spawn(programPath(program) ?? program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  await until(`${program} accepts connections`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended:\n${output.join('')}`)
    return accepts(ports.https)
  })
  return { ...ports, close: () => stop(child) }
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
