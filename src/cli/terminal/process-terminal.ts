// The terminal of a process: standard streams, the environment and signals.
import { once } from 'node:events'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CommandError } from './command-error.ts'
import type { Terminal } from './terminal.ts'

const { stdin, stdout, stderr } = process
/** Returns to the start of the line and deletes it. */
const clearLine = '\r\u001b[K'

/** Takes what the process has of the environment, so call it once. */
export function processTerminal(version: string): Terminal {
  // The reader of a pipe, such as head, may have read enough. The command finishes all the same.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
  // An empty variable counts as not set: compose files and service units leave unused variables empty.
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith('ROOMKEEPER_') && value === '') delete process.env[name]
  }
  // No process that this one starts, such as pg_dump, gets the key.
  const { ROOMKEEPER_SECRET_KEY: secretKey } = process.env
  delete process.env.ROOMKEEPER_SECRET_KEY
  let progress = ''
  const clearProgress = () => {
    if (progress !== '') stderr.write(clearLine)
    progress = ''
  }
  return {
    version,
    program: process.argv.slice(0, 2),
    isInteractive: stdout.isTTY === true,
    columns: stdout.isTTY ? stdout.columns : undefined,
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    write: (text) => {
      clearProgress()
      stdout.write(`${text}\n`)
    },
    writeRaw: async (chunk) => {
      // A pipe whose reader has left never drains.
      if (!stdout.write(chunk) && stdout.writable) await Promise.race([once(stdout, 'drain'), once(stdout, 'close')])
    },
    writeError: (text) => {
      clearProgress()
      stderr.write(`${text}\n`)
    },
    showProgress: (line) => {
      if (!stderr.isTTY) return
      if (line === '') clearProgress()
      else if (line !== progress) stderr.write(clearLine + line.slice(0, stderr.columns - 1))
      progress = line
    },
    readInput: () => stdin,
    ask: (question, kind) => {
      clearProgress()
      return ask(question, kind?.isSecret === true)
    },
    variable: (name) => process.env[name] || undefined,
    configFolder: process.env.XDG_CONFIG_HOME || join(homedir(), '.config'),
    untilStopped,
    onHangup: (reload) => void process.on('SIGHUP', reload),
    onUncaughtError: (report) => void process.on('uncaughtException', report),
    user,
    secretKey,
    // Not an option: only tests shorten time limits (CONTRIBUTING.md).
    timeFactor: process.env.ROOMKEEPER_TEST_TIME_FACTOR,
    certificateVariables: Object.fromEntries(
      ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_USE_SYSTEM_CA'].flatMap((name) =>
        process.env[name] === undefined ? [] : [[name, process.env[name]]],
      ),
    ),
    exitWithFailure: () => process.exit(1),
  }
}

/** Resolves on SIGINT or SIGTERM. A second signal, of either kind, exits immediately. */
const untilStopped = () =>
  new Promise<string>((resolve) => {
    let isStopping = false
    const stop = (signal: string) => {
      if (isStopping) process.exit(1)
      isStopping = true
      resolve(signal)
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
    // A gateway that the server started ends with the server, even if the server was killed.
    if (!process.connected) return
    process.once('disconnect', () => stop('disconnect'))
    process.channel?.unref()
  })

const user = () => {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** A terminal in raw mode shows nothing by itself: what is typed appears only if readline writes it. */
async function ask(question: string, isSecret: boolean): Promise<string> {
  const lines = createInterface({ input: stdin, output: isSecret ? nowhere() : stderr, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.on('SIGINT', () => reject(new CommandError('Interrupted.')))
      lines.on('close', () => reject(new CommandError('The question was not answered.')))
      if (isSecret) stderr.write(question)
      lines.question(isSecret ? '' : question, resolve)
    })
  } finally {
    lines.close()
    if (isSecret) stderr.write('\n')
  }
}
