// Measures reads by people against the same reads with an API key.
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { addKeyOfRegions, addPerson } from '../fixture/person.ts'
import { cycle, makeRequest } from '../load/http-load.ts'
import { cpuRow, measureInTurns } from '../measure/comparison.ts'
import type { Row } from '../measure/figures.ts'
import { httpContender } from '../measure/http-comparison.ts'
import type { Bench } from '../options.ts'
import { startServerOn } from '../servers/roomkeeper.ts'

const endpointCount = 1_000
const maxRatio = 1.1

export const people: Bench = async ({ quick, cleanup, profiles }) => {
  const folder = await copyFilledFolder(cleanup, endpointCount)
  const owner = await addPerson(folder.dataDir, folder.org, { role: 'owner' })
  // The folder is filled in two steps, each with a region of its own.
  const regionIds = [1, 2]
  const restricted = await addPerson(folder.dataDir, folder.org, { role: 'admin', regionIds })
  const restrictedKey = await addKeyOfRegions(folder.dataDir, folder.org, regionIds)
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags('ours'))
  const paths = folder.devices.map(({ id }) => `/v1/orgs/${folder.org}/endpoints/${id}`)
  const withSession = (session: string) =>
    cycle(
      paths.map((path) =>
        // The requests name no port, so the name of the cookie has the default one. [contract 9.cookie]
        makeRequest('GET', path, {
          headers: { Cookie: `roomkeeper-80=${session}`, 'Sec-Fetch-Site': 'same-origin' },
        }),
      ),
    )
  const withKey = (key: string) => cycle(paths.map((path) => makeRequest('GET', path, { key })))
  const warmUp = quick ? 2_000 : 6_000
  const plan = { rounds: quick ? 3 : 7, count: quick ? 3_000 : 20_000, profiles }
  const row = async (title: string, session: string, key: string): Promise<Row> => {
    const contenders = [
      await httpContender(cleanup, { ...server, name: 'ours' }, { request: withSession(session), warmUp }),
      await httpContender(cleanup, { ...server, name: 'with an API key' }, { request: withKey(key), warmUp }),
    ]
    return cpuRow(title, contenders, await measureInTurns(contenders, plan), maxRatio)
  }
  const rows = [
    await row('endpointsGet by an owner', owner, server.key),
    // The bytes are cached, but a statement asks where the endpoint is, for a person as for a key.
    await row('endpointsGet by an admin of two regions', restricted, restrictedKey),
  ]
  await server.process.stop()
  return rows
}
