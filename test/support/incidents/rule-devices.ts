// Real devices in a room for the tests of the rules of incidents: each test has an organisation of its own, at a fixed time.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { secondMs } from '../../../src/contract/durations.ts'
import { newDevice, type TestDevice } from '../devices/test-device.ts'
import { FindingsWatch } from '../findings.ts'
import { type Harness, startHarness, type TestOrg } from '../harness.ts'
import { until } from '../program.ts'

interface RuleTest {
  readonly harness: Harness
  readonly org: TestOrg
  readonly watch: FindingsWatch
}

/** The names of findings that matured and ended. */
export const changedFindings = (...names: [matured: string[], ended: string[]]) => ({
  matured: names[0],
  ended: names[1],
})

/** Starts a service for the tests of the file that calls it, and gives each of them its organisation with the room Fjord (1). */
export function ruleDevices(begin: (ruleTest: RuleTest) => void) {
  let harness: Harness
  let org: TestOrg
  let devices: TestDevice[]
  /** A time that no test changes backwards, because the service refuses samples from the future. */
  let now = Date.UTC(2026, 4, 4, 8)
  beforeAll(async () => {
    harness = await startHarness()
  })
  afterAll(() => harness.close())
  beforeEach(async () => {
    harness.clock.fix(now)
    org = await harness.newOrg()
    devices = []
    await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
    begin({ harness, org, watch: new FindingsWatch(harness, org) })
  })
  afterEach(async () => {
    for (const device of devices) await device.close()
    now = harness.clock.now()
  })

  async function device(model = 'NF19B1'): Promise<TestDevice> {
    const made = await newDevice(harness, org, { roomId: 1, model })
    devices.push(made)
    return made
  }
  const advance = (ms: number) => harness.clock.advance(ms)
  const endpoint = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body
  async function disconnect(gone: TestDevice): Promise<void> {
    await gone.close()
    await until('the device is offline', async () => !(await endpoint(gone)).connected)
  }
  const sample = (from: TestDevice, values: object) =>
    from.publish('sample', { samples: [{ timestamp: harness.clock.now() / secondMs, ...values }] })
  return { device, advance, disconnect, sample }
}
