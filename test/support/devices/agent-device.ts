// A device that lives by itself: the agent that makers embed, with settings, messages and reboots that a test can look at.
import { gzipSync } from 'node:zlib'
import type { DeviceSample, UpMessage } from '../../../src/contract/device/protocol.ts'
import { Agent } from '../../../src/device/agent.ts'
import { requestEnrolment } from '../../../src/device/enrol.ts'
import type { AgentSettings, AgentState } from '../../../src/device/handlers.ts'
import type { Harness, TestOrg } from '../harness.ts'
import { until } from '../program.ts'

export interface Wanted {
  readonly roomId: number
  readonly serial: string
  readonly model: string
  readonly pairingSerial?: string
  readonly status?: UpMessage<'status'>
  /** Settings that cannot be changed. */
  readonly readOnly?: AgentSettings
  /** Settings that the device rejects, with the reason of each. */
  readonly rejects?: Readonly<Record<string, string>>
  /** A reboot takes as long as this. */
  readonly whileRebooting?: () => Promise<void>
}

export interface LiveDevice {
  readonly id: string
  readonly serial: string
  /** The messages that its screen has shown. */
  readonly messages: readonly string[]
  readonly settings: AgentSettings
  readonly reboots: number
  /** It was told that it is no longer enrolled. */
  readonly isUnenrolled: boolean
  sample(sample: Omit<DeviceSample, 'timestamp'> & { timestamp?: number }): Promise<void>
  /** A person changes settings on the device itself, which reports them. */
  changeSettings(changes: AgentSettings): void
  reportStatus(changes: UpMessage<'status'>): void
  /** Connects it again after `stop`. */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startDevice(harness: Harness, org: TestOrg, wanted: Wanted): Promise<LiveDevice> {
  const { roomId, serial, model, pairingSerial, status = {}, readOnly = {}, rejects = {}, whileRebooting } = wanted
  const { dec } = (await org.call('GET', `/rooms/${roomId}`)).body
  const identity = await requestEnrolment(harness.url, {
    code: dec,
    serial,
    model,
    ...(pairingSerial && { pairingSerial }),
  })
  const messages: string[] = []
  const device = { settings: {} as AgentSettings, reboots: 0, isUnenrolled: false }
  let kept: AgentState | undefined
  const agent: Agent = new Agent({
    identity,
    status,
    storage: {
      load: () => kept,
      save: (news) => {
        kept = news
      },
    },
    handlers: {
      settings: () => {
        const { settingsPassword, remoteAccessAdminPassword, ...shown } = device.settings
        return { ...shown, ...readOnly }
      },
      applyConfig: (config) => {
        const [rejected, applied] = [Object.keys(config).filter((key) => key in rejects), { ...config }]
        for (const key of rejected) delete applied[key]
        device.settings = applied
        return rejected.length === 0 ? undefined : Object.fromEntries(rejected.map((key) => [key, rejects[key] ?? '']))
      },
      reboot: async () => {
        device.reboots++
        await agent.stop()
        await whileRebooting?.()
        await agent.start()
      },
      showMessage: (text) => {
        messages.push(text)
      },
      collectLogs: () => gzipSync(`the log of ${serial}\n`),
    },
  })
  agent.on('unenrolled', () => {
    device.isUnenrolled = true
  })
  await agent.start()
  await until(`${serial} to be known`, async () => {
    const { body } = await org.call('GET', `/endpoints/${identity.endpointId}`)
    return agent.isConnected && Object.keys(status).every((name) => name in body)
  })
  return {
    id: identity.endpointId,
    serial,
    messages,
    get settings() {
      return device.settings
    },
    get reboots() {
      return device.reboots
    },
    get isUnenrolled() {
      return device.isUnenrolled
    },
    sample: ({ timestamp = Math.floor(harness.clock.now() / 1000), ...values }) =>
      agent.sample([{ ...values, timestamp }]),
    changeSettings: (changes) => {
      device.settings = { ...device.settings, ...changes }
      agent.reportConfig()
    },
    reportStatus: (changes) => agent.reportStatus(changes),
    start: () => agent.start(),
    stop: () => agent.stop(),
  }
}
