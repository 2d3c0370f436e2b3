// `roomkeeper computer`: makes this machine an endpoint, until Ctrl-C.
import type { OwnerCommands } from '../computer/owner-commands.ts'
import { StartupError } from '../server/core/failure.ts'
import { needsPersonExitStatus } from './gateway-options.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface ComputerCommandOptions {
  readonly url?: string
  readonly code?: string
  readonly dataDir?: string
  readonly allowReboot?: boolean
  readonly allowMessage?: boolean
  readonly rebootCommand?: string
  readonly messageCommand?: string
}

export async function computerCommand(
  terminal: Terminal,
  options: ComputerCommandOptions,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform !== 'linux')
    throw new StartupError(
      `Only Linux is supported, and this system is ${platform}. A gateway with the driver "reach" can check this computer.`,
    )
  const { url, code, dataDir } = options
  if (dataDir === undefined) throw new StartupError('Name a folder for the identity of this computer with --data-dir.')
  // Loaded on demand, because MQTT.js takes long to load.
  const { runComputer } = await import('../computer/computer.ts')
  const { ComputerError } = await import('../computer/computer-error.ts')
  const commands = await ownerCommands(options)
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  try {
    const onLine = (text: string) => terminal.write(text)
    await runComputer({ url, code, folder: dataDir, commands, onLine }, stop.signal)
  } catch (error) {
    if (error instanceof ComputerError) throw new StartupError(error.message, { exitCode: needsPersonExitStatus })
    throw error
  }
}

async function ownerCommands(options: ComputerCommandOptions): Promise<OwnerCommands> {
  const { allowReboot, allowMessage, rebootCommand, messageCommand } = options
  if (rebootCommand !== undefined && !allowReboot) throw new StartupError('--reboot-command needs --allow-reboot.')
  if (messageCommand !== undefined && !allowMessage) throw new StartupError('--message-command needs --allow-message.')
  const { usualReboot, usualMessage } = await import('../computer/owner-commands.ts')
  return {
    ...(allowReboot && { reboot: wordsOf(rebootCommand) ?? usualReboot }),
    ...(allowMessage && { message: wordsOf(messageCommand) ?? usualMessage }),
  }
}

/** The command is started without a shell, so quotes have no meaning. */
const wordsOf = (command: string | undefined) => command?.trim().split(/\s+/)
