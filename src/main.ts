// Starts a command: the only file that reads the environment, handles signals and exits.
import { userInfo } from 'node:os'
import { CommanderError } from 'commander'
import { program } from './cli/program.ts'
import { Failure, StartupError } from './server/core/failure.ts'
import { programVersion } from './server/core/program-version.ts'

const say = (text: string) => void process.stdout.write(`${text}\n`)
const complain = (text: string) => void process.stderr.write(`${text}\n`)

/** Waits for Ctrl-C or a service manager; a second signal, of either kind, does not wait. */
const untilStopped = () =>
  new Promise<string>((resolve) => {
    let asked = false
    const stop = (signal: string) => {
      if (asked) process.exit(1)
      asked = true
      resolve(signal)
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
  })

const user = () => {
  try {
    return userInfo().username
  } catch {
    return 'unknown'
  }
}

// An empty variable is one that was not given: compose files and service units leave them so.
for (const [name, value] of Object.entries(process.env)) {
  if (name.startsWith('ROOMKEEPER_') && value === '') delete process.env[name]
}

try {
  await program({
    version: programVersion(),
    say,
    complain,
    untilStopped,
    user,
    fail: () => process.exit(1),
  }).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode
  else {
    const expected = error instanceof StartupError || error instanceof Failure
    complain(expected ? error.message : `Something unexpected went wrong: ${(error as Error).stack ?? error}`)
    process.exitCode = 1
  }
}
