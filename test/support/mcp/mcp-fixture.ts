// A harness with living devices for the official MCP client: its structure, and the ways in which tests use the client.
import { expect } from 'vitest'
import { type LiveDevice, startDevice, type Wanted } from '../devices/agent-device.ts'
import { startHarness } from '../harness.ts'
import { until } from '../program.ts'
import { startOfficialClient } from './mcp-client.ts'

const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64')
/** The status that the Bar reports. */
export const status = {
  primaryMode: 'avos',
  inCallStatus: 'NONE',
  firmwareVersion: 'NFB1.20260401.0001',
  freeSystemStorage: '123456789012',
  localIpAddress: '192.168.1.20',
}
export const network = {
  type: 'NETWORK_TYPE_ETHERNET',
  display: 'eth0',
  linkUp: true,
  mode: 'NETWORK_MODE_DHCP',
  mtu: 1500,
  networkName: '',
  macAddress: base64(0xac, 0xde, 0x48, 0, 0x11, 0x22),
  addresses: [
    { address: { ipv4: base64(192, 168, 1, 20) }, broadcast: { ipv4: base64(192, 168, 1, 255) }, prefix: 24 },
  ],
  gateway: [{ ipv4: base64(192, 168, 1, 1) }],
}

/** Fjord is at Oslo HQ in Europe and has a Bar with its Pad; Skog is nowhere and has a Frame. */
export async function startMcpHouse() {
  const harness = await startHarness()
  const org = await harness.newOrg()
  const client = await startOfficialClient(harness, org)
  const write = async (method: string, path: string, body: unknown) => (await org.call(method, path, { body })).body
  const made = async (path: string, body: object): Promise<number> => (await write('POST', path, body)).id
  const read = async (path: string) => (await org.call('GET', path)).body
  const devices: LiveDevice[] = []
  async function enter(wanted: Wanted): Promise<LiveDevice> {
    const device = await startDevice(harness, org, wanted)
    devices.push(device)
    return device
  }
  const europe = await made('/regions', { name: 'Europe' })
  const oslo = await made('/locations', { name: 'Oslo HQ', regionId: europe })
  const fjord = await made('/rooms', { name: 'Fjord', locationId: oslo })
  const skog = await made('/rooms', { name: 'Skog' })
  const readOnly = { primaryMode: status.primaryMode }
  const report = { ...status, networks: [network] }
  return {
    now: () => harness.clock.now(),
    tools: await client.tools(),
    ...{ write, made, read, enter, europe, oslo, fjord, skog },
    bar: await enter({ roomId: fjord, serial: 'NB1', model: 'NF19B1', status: report, readOnly }),
    pad: await enter({ roomId: fjord, serial: 'NP1', model: 'NF19A1', pairingSerial: 'NB1' }),
    frame: await enter({ roomId: skog, serial: 'NR1', model: 'NF21F1' }),

    /** Returns the answer of a tool; an error fails the test. */
    async use(tool: string, args: object = {}) {
      const { isError, text } = await client.call(tool, args)
      expect(isError, `${tool}: ${text}`).toBe(false)
      return JSON.parse(text)
    },

    /** The words of an error; an answer fails the test. */
    async refused(tool: string, args: object): Promise<string> {
      const { isError, text } = await client.call(tool, args)
      expect(isError, `${tool}: ${text}`).toBe(true)
      return text
    },

    /** Resolves when the newest operation of each device is of this type and has succeeded. */
    async succeeded(type: string, ...by: LiveDevice[]): Promise<void> {
      for (const { id, serial } of by) {
        await until(`${type} of ${serial}`, async () => {
          const [newest] = (await read(`/endpoints/${id}/operations`)).operations
          return newest?.type === type && newest.state === 'SUCCEEDED'
        })
      }
    },

    async close(): Promise<void> {
      await client.close()
      await Promise.all(devices.map((device) => device.stop()))
      await harness.close()
    },
  }
}
export type McpHouse = Awaited<ReturnType<typeof startMcpHouse>>
