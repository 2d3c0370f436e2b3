// Runs a command. This is the only file that reads the environment, handles signals and exits.
import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import { endSentence, runCommand } from './cli/run-command.ts'
import type { Terminal } from './cli/terminal.ts'
import { readConfigFile } from './server/config/config-file.ts'
import { serveOptions } from './server/config/options.ts'
import { StartupError } from './server/core/failure.ts'
import { programVersion, versionText } from './server/core/program-files.ts'

const write = (text: string) => void process.stdout.write(`${text}\n`)
const writeError = (text: string) => void process.stderr.write(`${text}\n`)

// The reader of a pipe, such as head, may have read enough. The command finishes all the same.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
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

// An empty variable counts as not set: compose files and service units leave unused variables empty.
for (const [name, value] of Object.entries(process.env)) {
  if (name.startsWith('ROOMKEEPER_') && value === '') delete process.env[name]
}

/** Settings of the config file become variables that are not set yet, so that every option finds them where it looks. */
function applyConfigFile(): void {
  const { values } = parseArgs({ options: { config: { type: 'string' } }, strict: false })
  const file = values.config ?? process.env.ROOMKEEPER_CONFIG
  if (typeof file !== 'string') return
  const names = serveOptions.map(({ env }) => env).filter((name) => name !== 'ROOMKEEPER_CONFIG')
  for (const [name, value] of readConfigFile(file, names)) if (value !== '') process.env[name] ??= value
}

// No process that this one starts, such as pg_dump, gets the key.
const { ROOMKEEPER_SECRET_KEY: secretKey } = process.env
delete process.env.ROOMKEEPER_SECRET_KEY

// Not an option: only tests shorten time limits (CONTRIBUTING.md).
const { ROOMKEEPER_TEST_TIME_FACTOR: timeFactor } = process.env

const terminal: Terminal = {
  version: versionText(programVersion()),
  program: process.argv.slice(0, 2),
  isInteractive: process.stdout.isTTY === true,
  write,
  writeError,
  untilStopped,
  onHangup: (reload) => void process.on('SIGHUP', reload),
  onUncaughtError: (report) => void process.on('uncaughtException', report),
  user,
  secretKey,
  timeFactor,
  certificateVariables: Object.fromEntries(
    ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_USE_SYSTEM_CA'].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  ),
  exitWithFailure: () => process.exit(1),
}
try {
  applyConfigFile()
} catch (error) {
  if (!(error instanceof StartupError)) throw error
  writeError(endSentence(error.message))
  process.exit(1)
}
const code = await runCommand(terminal, process.argv.slice(2))
// A connection whose password PostgreSQL still waits for would keep a failed process alive for a minute.
if (code !== 0) process.exit(code)
