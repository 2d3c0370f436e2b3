// Measures what channels that want every message cost samples, which make none, and audited writes, which make one each.

import { channelEvents } from '../../src/contract/channels/messages.ts'
import type { Cleanup } from '../cleanup.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { HttpClient } from '../load/http-client.ts'
import { makeRequest } from '../load/http-load.ts'
import { MqttLoad } from '../load/mqtt-load.ts'
import { type Contender, cpuRow, measureInTurns } from '../measure/comparison.ts'
import { httpContender } from '../measure/http-comparison.ts'
import type { Bench } from '../options.ts'
import { type MeasuredServer, startServerOn } from '../servers/roomkeeper.ts'

const deviceCount = 500
const maxSampleRatio = 1.1

export const messages: Bench = async ({ quick, cleanup, profiles }) => {
  const start = async (name: string) => {
    const folder = await copyFilledFolder(cleanup, deviceCount)
    const server = await startServerOn(cleanup, folder, profiles.nodeFlags(name))
    return { name, server, devices: folder.devices }
  }
  const wanted = await start('ours')
  const unwanted = await start('without a channel')
  await addChannel(wanted.server)

  const firstTimestamp = Math.floor(Date.now() / 1000) - 300
  const samples = async ({ name, server, devices }: typeof wanted): Promise<Contender> => {
    const load = await MqttLoad.connect(server.mqttPort, devices, (n) => firstTimestamp + n)
    cleanup.add(() => load.close())
    await load.send(quick ? 10 : 30)
    return { name, process: server.process, send: (count) => load.send(count / deviceCount) }
  }
  const rounds = quick ? 3 : 7
  const samplers = [await samples(wanted), await samples(unwanted)]
  const sampleRounds = await measureInTurns(samplers, { rounds, slices: 4, count: 40 * deviceCount, profiles })

  const writers = [await regions(cleanup, wanted), await regions(cleanup, unwanted)]
  const writeRounds = await measureInTurns(writers, { rounds, count: quick ? 800 : 2500, profiles })
  for (const { server } of [wanted, unwanted]) await server.process.stop()
  return [
    cpuRow(
      `durable QoS 1 sample while a channel wants every message, ${deviceCount} devices`,
      samplers,
      sampleRounds,
      maxSampleRatio,
    ),
    cpuRow('regionsCreate while a channel wants audit entries, 10 connections', writers, writeRounds),
  ]
}

/** The channel is disabled: its messages are written and wait, so that no receiver is measured. */
async function addChannel({ url, org, key }: MeasuredServer): Promise<void> {
  const http = new HttpClient(url)
  const body = {
    name: 'Everything',
    kind: 'webhook',
    url: 'https://hooks.example.org/',
    events: channelEvents,
    minSeverity: 'INFO',
    enabled: false,
  }
  await http.send('POST', `/v1/orgs/${org}/channels`, { key, body })
  http.close()
}

function regions(cleanup: Cleanup, { name, server }: { readonly name: string; readonly server: MeasuredServer }) {
  let sent = 0
  const path = `/v1/orgs/${server.org}/regions`
  const request = () => makeRequest('POST', path, { key: server.key, body: { name: `Region ${sent++} ${name}` } })
  return httpContender(cleanup, { ...server, name }, { request, warmUp: 1000 })
}
