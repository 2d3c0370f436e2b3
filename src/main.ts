// Runs a command. It reads the config file before the options, which look for their values in the environment.
import { parseArgs } from 'node:util'
import { runCommand } from './cli/run-command.ts'
import { processTerminal } from './cli/terminal/process-terminal.ts'
import { endSentence } from './cli/terminal/run-program.ts'
import { readConfigFile } from './server/config/config-file.ts'
import { serveOptions } from './server/config/options.ts'
import { StartupError } from './server/core/failure.ts'
import { programVersion, versionText } from './server/core/program-files.ts'

/** Settings of the config file become variables that are not set yet, so that every option finds them where it looks. */
function applyConfigFile(): void {
  const { values } = parseArgs({ options: { config: { type: 'string' } }, strict: false })
  const file = values.config ?? process.env.ROOMKEEPER_CONFIG
  if (typeof file !== 'string') return
  const names = serveOptions.map(({ env }) => env).filter((name) => name !== 'ROOMKEEPER_CONFIG')
  for (const [name, value] of readConfigFile(file, names)) if (value !== '') process.env[name] ??= value
}

const terminal = processTerminal(versionText(programVersion()))
try {
  applyConfigFile()
} catch (error) {
  if (!(error instanceof StartupError)) throw error
  terminal.writeError(endSentence(error.message))
  process.exit(1)
}
/** Resolves when the reader of a pipe has taken what was written: an exit drops the rest. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writable) stream.write('', () => resolve())
    else resolve()
  })

const code = await runCommand(terminal, process.argv.slice(2))
if (code !== 0) {
  await Promise.all([process.stdout, process.stderr].map(written))
  // A connection whose password PostgreSQL still waits for would keep a failed process alive for a minute.
  process.exit(code)
}
