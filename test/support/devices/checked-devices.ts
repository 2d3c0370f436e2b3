// Devices that device-check examines in tests: one with the agent, and one that does as much wrong as possible.
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import mqtt, { type MqttClient } from 'mqtt'
import { onTestFinished } from 'vitest'
import type { EnrolAnswer } from '../../../src/contract/device/protocol.ts'
import { Agent } from '../../../src/device/agent.ts'
import { EnrolmentRefusedError, requestEnrolment } from '../../../src/device/enrol.ts'
import type { AgentSettings, AgentState } from '../../../src/device/handlers.ts'

/** Enrols as a person with the agent does: what can succeed later is tried again. */
async function enrolPatiently(url: string, code: string): Promise<EnrolAnswer> {
  for (;;) {
    try {
      return await requestEnrolment(url, { code, serial: 'CHECKED-1', model: 'NF19B1' })
    } catch (error) {
      if (!(error instanceof EnrolmentRefusedError)) throw error
      await pause(1000 * Number(error.cause.headers.get('retry-after') ?? 1) + 50)
    }
  }
}

/** The agent that makers embed. It connects over WebSocket, to have device-check relay that too. */
export async function runAgentDevice(url: string, code: string): Promise<void> {
  const identity = await enrolPatiently(url, code)
  let kept: AgentState | undefined
  let settings: AgentSettings = {}
  const agent: Agent = new Agent({
    identity: { ...identity, connect: identity.connect.filter((address) => address.startsWith('ws')) },
    status: { firmwareVersion: 'NFB1.1', inCallStatus: 'NONE' },
    storage: {
      load: () => kept,
      save: (state) => {
        kept = state
      },
    },
    handlers: {
      settings: () => ({ nightMode: false, ...settings }),
      applyConfig: ({ nightMode, ...others }) => {
        settings = nightMode === undefined ? {} : { nightMode }
        return Object.fromEntries(Object.keys(others).map((key) => [key, 'There is no such setting.']))
      },
      reboot: async () => {
        await agent.stop()
        await agent.start()
      },
      showMessage: () => {},
      collectLogs: () => gzipSync('all is well'),
    },
  })
  onTestFinished(() => agent.stop())
  await agent.start()
  const sampling = setInterval(() => {
    void agent.sample([{ timestamp: Math.floor(Date.now() / 1000), temp: 21.5, people: 2 }])
  }, 1_000)
  onTestFinished(() => clearInterval(sampling))
}

/** Speaks MQTT 5, and breaks as many rules as one device can. */
export async function runWrongDevice(url: string, code: string): Promise<void> {
  let identity: EnrolAnswer | undefined
  // It ignores Retry-After.
  while (!identity)
    identity = await requestEnrolment(url, { code, serial: 'WRONG-1', model: 'X' }).catch(() => undefined)
  const { endpointId, credential, connect } = identity
  const topic = (kind: string) => `v1/${endpointId}/up/${kind}`
  let isStopped = false
  let client: MqttClient | undefined
  onTestFinished(() => {
    isStopped = true
    client?.end(true)
  })
  let settings = { nightMode: false } as Record<string, unknown>
  const start = () => {
    if (isStopped) return
    const opened = mqtt.connect(connect[0] ?? '', {
      protocolVersion: 5,
      username: endpointId,
      password: credential,
      reconnectPeriod: 0,
      reconnectOnConnackError: false,
    })
    client = opened
    const publish = (kind: string, body: unknown, qos: 0 | 1 = 1) =>
      void opened.publish(topic(kind), JSON.stringify(body), { qos })
    // It subscribes first, and names only what changed on later connections.
    opened.on('connect', () => {
      opened.subscribe(`v1/${endpointId}/down/#`, { qos: 1 })
      publish('status', { firmwareVersion: '1', inCallStatus: 'BUSY' })
      publish('config', { version: 0, config: settings }, 0)
      publish('sample', { samples: [{ timestamp: Date.now(), temp: 70 }] })
      publish('sample', { samples: [{ timestamp: Math.floor(Date.now() / 1000), temp: 70, humidity: 0.4 }] })
    })
    opened.on('message', (path, payload) => {
      const kind = path.split('/').at(-1)
      const body = JSON.parse(payload.toString())
      // It keeps what the config does not name, reports passwords, and obeys every command, whatever it is.
      if (kind === 'config') {
        settings = { ...settings, ...body.config }
        delete settings.usbCableInstructions
        publish('config', { version: body.version, config: settings })
      }
      if (kind === 'operation' && body.type !== 'UNENROL') publish('operation', { id: body.id, state: 'SUCCEEDED' })
      if (kind === 'message-refused' && body.by) publish('status', { firmwareVersion: '1', inCallStatus: 'BUSY' })
    })
    opened.on('error', () => opened.end(true))
    // It comes back immediately.
    opened.once('close', () => void pause(10).then(start))
  }
  start()
}
