// Makes this machine an endpoint: enrols it with the code of a room, then reports its status and carries out commands until it is stopped or unenrolled.
import { hostname, networkInterfaces } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs, retryAfterMs } from '../client/back-off.ts'
import type { DeviceAction } from '../contract/device/models.ts'
import type { CommandReport } from '../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../contract/durations.ts'
import { Agent } from '../device/agent.ts'
import { EnrolmentRefusedError, requestEnrolment } from '../device/enrol.ts'
import type { AgentHandlers } from '../device/handlers.ts'
import { deviceBackOff } from '../device/reconnect.ts'
import { ComputerError } from './computer-error.ts'
import { ComputerFolder, type ComputerIdentity } from './folder.ts'
import { readBootId } from './kernel/boot.ts'
import { collectLogs } from './logs.ts'
import { type OwnerCommands, rebootComputer, showMessage } from './owner-commands.ts'
import { computerSerial } from './serial.ts'
import {
  changesOf,
  describeLoad,
  describeMachine,
  describeSystem,
  fixedStatus,
  type Machine,
  modelOfComputer,
  type Status,
} from './status.ts'
import { hourlyCalls, minuteCalls, type SystemFacts } from './system/calls.ts'
import { SystemInformation } from './system/system-information.ts'

export interface ComputerOptions {
  readonly url: string | undefined
  /** Needed once, to enrol. */
  readonly code: string | undefined
  readonly folder: string
  readonly commands: OwnerCommands
  /** Called with a line for each thing that a person may want to know. */
  onLine(text: string): void
}

type Enrolled = Extract<ComputerIdentity, { serial: string }>

const machine: Machine = {
  root: '/',
  name: hostname(),
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  addresses: networkInterfaces,
}

/** Resolves when the signal aborts, rejects with a ComputerError that a person must act on. */
export async function runComputer(options: ComputerOptions, signal: AbortSignal): Promise<void> {
  const { commands, onLine } = options
  const folder = new ComputerFolder(options.folder, await readBootId(machine.root))
  const reader = new SystemInformation({ onProblem: onLine })
  try {
    const known = await folder.identity()
    if (known && 'unenrolledAt' in known)
      throw new ComputerError(
        `This computer was unenrolled at ${known.unenrolledAt}. To enrol it again, delete ${folder.path} and start with a new --code.`,
      )
    const { url, code } = options
    if (!known && (url === undefined || code === undefined))
      throw new ComputerError(
        'This computer is not enrolled. Give --url and --code: the console shows the code of a room.',
      )
    const facts = await reader.read([...hourlyCalls, ...minuteCalls])
    const identity = known ?? (await enrol({ url: url ?? '', code: code ?? '', onLine }, folder, facts, signal))
    const status = {
      ...fixedStatus(actionsOf(commands)),
      ...describeSystem(facts),
      ...(await describeMachine(machine)),
      ...(await describeLoad(machine.root, facts)),
    }
    const handlers = handlersOf(commands, signal)
    const outcomeOf = () => outcomeOfReboot(folder.hasRestarted)
    const agent = new Agent({ identity, status: { ...status }, storage: folder, handlers, outcomeOf })
    await runAgent(agent, new StatusReports(agent, reader, status, facts), folder, onLine, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    reader.stop()
  }
}

const actionsOf = ({ reboot, message }: OwnerCommands): DeviceAction[] => [
  ...(reboot ? (['reboot'] as const) : []),
  ...(message ? (['message'] as const) : []),
  'logs',
]

/** The service does not ask for actions that the status does not name. If one comes all the same, it is refused in words. */
const handlersOf = (commands: OwnerCommands, signal: AbortSignal): AgentHandlers => ({
  settings: () => ({}),
  applyConfig: (config) =>
    Object.fromEntries(Object.keys(config).map((key) => [key, 'A computer has no such setting.'])),
  reboot: () => rebootComputer(commands, signal),
  showMessage: (text, durationMs) => showMessage(commands, text, durationMs),
  collectLogs: () => collectLogs(machine.root),
})

/** This program can start again while the machine runs on: only a new boot ID shows that the machine has restarted. */
function outcomeOfReboot(hasRestarted: boolean | undefined): Pick<CommandReport, 'state' | 'error'> {
  if (hasRestarted) return { state: 'SUCCEEDED' }
  const error = hasRestarted === false ? 'The computer did not restart.' : 'not known whether it restarted'
  return { state: 'FAILED', error }
}

/** Tries until the service has answered: the network can come up after this program. */
async function enrol(
  { url, code, onLine }: Pick<ComputerOptions, 'onLine'> & { readonly url: string; readonly code: string },
  folder: ComputerFolder,
  facts: SystemFacts,
  signal: AbortSignal,
): Promise<Enrolled> {
  const { system = {} } = facts
  const serial = await computerSerial(machine.root, system, url)
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted()
    try {
      const answer = await requestEnrolment(url, { code, serial, model: modelOfComputer(facts) })
      const identity = { serial, ...answer }
      await folder.saveIdentity(identity)
      onLine(`Enrolled at ${url} with the serial number ${serial}.`)
      return identity
    } catch (error) {
      if (error instanceof ComputerError) throw error
      const refusal = error instanceof EnrolmentRefusedError ? error : undefined
      if (refusal?.isFinal) throw new ComputerError(`The computer cannot enrol at ${url}: ${refusal.message}`)
      const askedMs = refusal && retryAfterMs(refusal.cause.headers)
      const waitMs = Math.max(askedMs ?? 0, backOffMs(failures, deviceBackOff))
      const reason = refusal?.message ?? 'it does not answer.'
      onLine(`Cannot enrol at ${url} yet: ${reason} Trying again in ${Math.ceil(waitMs / 1000)} s.`)
      await pause(waitMs, undefined, { signal })
    }
  }
}

/** Keeps the status of the agent up to date. */
class StatusReports {
  readonly #agent: Agent
  readonly #reader: SystemInformation
  readonly #reported: Status
  /** A call that hangs later leaves the answer that it gave before. */
  #system: SystemFacts

  constructor(agent: Agent, reader: SystemInformation, reported: Status, system: SystemFacts) {
    this.#agent = agent
    this.#reader = reader
    this.#reported = reported
    this.#system = system
  }

  async hourly(): Promise<void> {
    this.#system = { ...this.#system, ...(await this.#reader.read(hourlyCalls)) }
    this.#report(describeSystem(this.#system))
  }

  async everyMinute(): Promise<void> {
    const load = await describeLoad(machine.root, await this.#reader.read(minuteCalls))
    this.#report({ ...(await describeMachine(machine)), ...load })
  }

  #report(now: Status): void {
    const changes = changesOf(this.#reported, now)
    if (Object.keys(changes).length === 0) return
    Object.assign(this.#reported, changes)
    this.#agent.reportStatus(changes)
  }
}

async function runAgent(
  agent: Agent,
  reports: StatusReports,
  folder: ComputerFolder,
  onLine: ComputerOptions['onLine'],
  signal: AbortSignal,
): Promise<void> {
  let isConnected: boolean | undefined
  let isRefused = false
  const unenrolled = Promise.withResolvers<void>()
  agent.on('connected', () => {
    if (!isConnected) onLine('Connected.')
    isConnected = true
    isRefused = false
  })
  agent.on('disconnected', (reason) => {
    if (isConnected !== false) onLine(`Not connected${reason ? ` (${reason.message})` : ''}. Trying again.`)
    isConnected = false
  })
  agent.on('credentialRefused', () => {
    if (!isRefused)
      onLine(
        `The service does not know this computer. To enrol it again, delete ${folder.path} and start with a new --code.`,
      )
    isRefused = true
  })
  agent.on('messageRefused', ({ kind, field, reason }) => onLine(`The service refused ${kind} ${field}: ${reason}`))
  agent.on('warning', (error) => onLine(`Warning: ${error instanceof Error ? error.message : error}`))
  agent.on('unenrolled', () => unenrolled.resolve())
  const warn = (error: Error) => onLine(`Cannot read the state of this computer: ${error.message}`)
  const timers = [
    setInterval(() => void reports.everyMinute().catch(warn), minuteMs),
    setInterval(() => void reports.hourly().catch(warn), hourMs),
  ]
  const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  try {
    await agent.start()
    if (signal.aborted) return
    await Promise.race([stopped, unenrolled.promise])
    if (signal.aborted) return
    await folder.forget()
    throw new ComputerError('This computer was unenrolled. Its credential is deleted.')
  } finally {
    for (const timer of timers) clearInterval(timer)
    await agent.stop()
  }
}
