// Runs Debian's nginx in front of a service, with HTTPS, for tests of what a proxy changes.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificate } from './certificate.ts'
import { need } from './debian.ts'
import { until } from './program.ts'

export interface Nginx {
  /** The file of the certificate, which is self-signed. */
  readonly cert: string
  stop(): Promise<void>
}

/** Starts nginx on a port of 127.0.0.1. `server` is the content of its server block, and `otherServers` are further blocks. */
export async function startNginx(port: number, server: string, otherServers = ''): Promise<Nginx> {
  need('nginx')
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-nginx-'))
  const { cert, key } = certificate({ dataDir: folder })
  mkdirSync(join(folder, 'temp'))
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path temp/${name};`)
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `pid nginx.pid; worker_processes 1; error_log stderr warn;
events { worker_connections 256; }
http {
  access_log off; ${temp.join(' ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${cert}; ssl_certificate_key ${key};
    ${server}
  }
  ${otherServers}
}
`,
  )
  // A single process is enough, ends with its own id, and needs no other user.
  const options = ['-p', folder, '-c', config, '-e', 'stderr', '-g', 'daemon off; master_process off;']
  const child = spawn('nginx', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await until('nginx listens', async () => {
    if (hasEnded(child)) throw new Error(`nginx ended: ${errors}`)
    return accepts(port)
  })
  return {
    cert,
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).once('error', () => resolve(false))
  })
