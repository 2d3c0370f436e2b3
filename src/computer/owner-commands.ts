// Runs the two things that the machine's owner has to allow: a reboot and a message on the screen. No shell is involved.
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** A program and its arguments. */
export type OwnerCommand = readonly string[]

export interface OwnerCommands {
  /** Absent if the owner has not allowed it. */
  readonly reboot?: OwnerCommand
  readonly message?: OwnerCommand
}

export const usualReboot: OwnerCommand = ['systemctl', 'reboot']
export const usualMessage: OwnerCommand = ['notify-send']

const timeoutMs = 30_000
/** The service waits for five minutes. */
const restartTimeoutMs = 240_000
const maxReasonCharacters = 200

/** Ends with an error, unless the machine goes down first. */
export async function rebootComputer({ reboot }: OwnerCommands, signal: AbortSignal): Promise<never> {
  if (!reboot) throw new Error('The owner of this computer has not allowed reboots (--allow-reboot).')
  await run(reboot, [], '', 'The computer could not be restarted')
  await pause(restartTimeoutMs, undefined, { signal, ref: false })
  throw new Error(`The computer accepted the reboot, but was still running ${restartTimeoutMs / 60_000} minutes later.`)
}

/** A command of the owner gets the text on its standard input: as an argument it could be taken for an option. */
export async function showMessage({ message }: OwnerCommands, text: string, durationMs: number): Promise<void> {
  if (!message) throw new Error('The owner of this computer has not allowed messages (--allow-message).')
  const failed = 'The message could not be shown'
  if (message !== usualMessage) return run(message, [], text, failed)
  // Notifications can have markup, and this text has none.
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return run(message, [`--expire-time=${durationMs}`, '--', 'Roomkeeper', plain], '', failed)
}

function run([program = '', ...first]: OwnerCommand, more: readonly string[], input: string, failed: string) {
  return new Promise<void>((resolve, reject) => {
    const child = execFile(program, [...first, ...more], { timeout: timeoutMs }, (error, _, stderr) => {
      if (!error) return resolve()
      const reason =
        error.code === 'ENOENT'
          ? `there is no program ${program}`
          : stderr.trim().split('\n').at(-1) || (error.killed ? 'it took too long' : `exit code ${error.code}`)
      return reject(new Error(`${failed}: ${reason.slice(0, maxReasonCharacters)}`))
    })
    child.stdin?.on('error', () => {}).end(input)
  })
}
