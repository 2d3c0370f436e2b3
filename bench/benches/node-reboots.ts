// Measures a reboot that is asked of another node than the device's, against one that is asked of the device's own node.
import { upTopic } from '../../src/contract/device/protocol.ts'
import { deliverOneByOne } from '../load/deliver-one-by-one.ts'
import { HttpLoad, makeRequest } from '../load/http-load.ts'
import { type ListeningDevice, MqttFleet } from '../load/mqtt-fleet.ts'
import { atMost, quantile, type Row, summarise } from '../measure/figures.ts'
import type { BenchOptions } from '../options.ts'
import type { FilledDatabase, MeasuredNodeGroup } from '../servers/node-group.ts'

const deviceCount = 500
const maxRatio = { p50: 1.5, p99: 2 }

export async function measureCrossNodeReboots(
  { quick, cleanup }: BenchOptions,
  { org, key, organisation }: FilledDatabase,
  { servers }: MeasuredNodeGroup,
): Promise<Row[]> {
  const [own, other] = servers
  if (!own || !other) throw new Error('The measurement needs two nodes.')
  const fleet = new MqttFleet(own.mqttPort, organisation.devices.slice(0, deviceCount))
  cleanup.add(() => fleet.drop())
  await fleet.connect(deviceCount, 50)
  const connections = await Promise.all([own, other].map(({ url }) => HttpLoad.connect(url, 1)))
  cleanup.add(() => {
    for (const connection of connections) connection.close()
  })
  const [viaOwn, viaOther] = connections as [HttpLoad, HttpLoad]
  const latencies: { own: number[]; other: number[] } = { own: [], other: [] }
  // Devices acknowledge their commands after each pass; otherwise the server would repeat them.
  for (let pass = 0; pass < (quick ? 1 : 8); pass++) {
    const delivered = new Map<ListeningDevice, string>()
    for (const [i, device] of fleet.devices.entries()) {
      const isOwn = (i + pass) % 2 === 0
      const reboot = ({ identity }: ListeningDevice) =>
        (isOwn ? viaOwn : viaOther).send(
          1,
          makeRequest('POST', `/v1/orgs/${org}/endpoints/${identity.id}/reboot`, { key }),
        )
      const { latenciesMs } = await deliverOneByOne(fleet, [device], reboot, (to, payload) =>
        delivered.set(to, JSON.parse(payload).id),
      )
      latencies[isOwn ? 'own' : 'other'].push(...latenciesMs)
    }
    for (const [device, id] of delivered) {
      await device.publish(upTopic(device.identity.id, 'operation'), JSON.stringify({ id, state: 'ACKNOWLEDGED' }))
    }
  }
  const tries = latencies.other.length.toLocaleString('en')
  return (['p50', 'p99'] as const).map((name): Row => {
    const share = name === 'p50' ? 0.5 : 0.99
    const [ours, baseline] = [quantile(latencies.other, share), quantile(latencies.own, share)]
    const ratio = summarise([ours / baseline])
    return {
      title: `reboot asked of another node, request to message, ${name} of ${tries} tries`,
      unit: 'ms',
      ours: summarise([ours]),
      baseline: { name: "asked of the device's node", figure: summarise([baseline]) },
      ratio,
      goal: atMost(ratio, maxRatio[name]),
    }
  })
}
