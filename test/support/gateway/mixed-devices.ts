// Devices for all drivers, as many as a test wants: fake codecs and projectors, one snmpd, and the web page of the server.
import { FakeCodec } from '../../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { FakeProjector } from '../../../src/simulator/hardware-fakes/projector/fake-projector.ts'
import { makeSelfSigned } from '../../../src/simulator/hardware-fakes/self-signed.ts'
import { startSnmpd } from '../drivers/snmpd.ts'

export interface MixedDevices {
  /** An item of the list for each device, without its room. */
  readonly items: readonly object[]
  stop(): Promise<void>
}

const password = 'mixed-password'
const snmpd = `
rocommunity ${password} 127.0.0.1
sysName switch-1
sysServices 72
sysObjectID 1.3.6.1.4.1.9.1.1
`

/** Starts codecs, projectors, items with SNMP and web pages in the ratio 3 : 3 : 3 : 1. */
export async function startMixedDevices(count: number, webPort: number): Promise<MixedDevices> {
  const certificate = makeSelfSigned()
  const switches = await startSnmpd(snmpd)
  const codecs: FakeCodec[] = []
  const projectors: FakeProjector[] = []
  const items: object[] = []
  const host = '127.0.0.1'
  for (let i = 0; i < count; i++) {
    const kind = i % 10
    if (kind < 3) {
      const codec = await FakeCodec.start({ password, certificate, serial: `MIX${i}` })
      codecs.push(codec)
      const { port, fingerprint } = codec
      items.push({ driver: 'roomos', host, port, username: 'admin', secret: password, fingerprint })
    } else if (kind < 6) {
      const projector = new FakeProjector({ password, serial: `MIX${i}` })
      projectors.push(projector)
      items.push({ driver: 'pjlink', host, port: await projector.listen(), secret: password })
    } else if (kind < 9) {
      // It tells no serial number, so each item is a device of its own.
      items.push({ driver: 'snmp', host, port: switches.port, secret: password })
    } else {
      items.push({ driver: 'reach', host, port: webPort, options: { check: 'https', path: '/livez' } })
    }
  }
  return {
    items,
    async stop() {
      await Promise.all([...codecs.map((codec) => codec.stop()), ...projectors.map((one) => one.close())])
      await switches.stop()
    },
  }
}
