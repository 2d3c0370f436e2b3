// Adds content that makes the demo worth a look, once for each organisation: rooms with problems, a profile and notes.
import type { Client } from '../client/client.ts'
import { requestEnrolment } from '../device/enrol.ts'

const basement = 'Basement'

export async function addDemoContent(client: Client, url: string): Promise<void> {
  const { rooms } = (await client.roomsList()).body
  if (rooms.some(({ name }) => name === basement)) return

  const offline = (await client.roomsCreate({ body: { name: basement } })).body
  await requestEnrolment(url, { code: offline.dec ?? '', serial: 'NHDEMO00990001', model: 'NF22H1' })
  const note = 'The network switch is on order. The Board is unplugged until it arrives.'
  await client.roomNotesCreate({ roomId: offline.id, body: { note } })

  const empty = (await client.roomsCreate({ body: { name: 'Attic' } })).body
  await client.roomNotesCreate({
    roomId: empty.id,
    body: { note: 'Opens in spring. Enrol the first device with the code of this room.' },
  })

  const { id, name } = rooms[0] ?? empty
  const degraded = (await client.roomsGet({ id })).body
  await requestEnrolment(url, { code: degraded.dec ?? '', serial: 'NADEMO00990002', model: 'NF19A1' })
  await client.roomNotesCreate({ roomId: id, body: { note: `One Pad of ${name} is away for repair.` } })

  // A visitor does not wait for an hour until the lost camera of a codec counts as missing.
  await client.incidentRulesUpdate({
    rule: 'peripheral.missing',
    body: { holdMinutes: 1, limits: { connectedMinutes: 3 } },
  })

  const { profile } = (
    await client.profilesCreate({
      body: {
        name: 'Quiet rooms',
        description: 'Dark and silent at night',
        config: { nightMode: true, brightness: 0.4, screenStandby: 600_000 },
      },
    })
  ).body
  for (const room of rooms.slice(1, 4)) {
    await client.roomsAssignProfile({ id: room.id, body: { profileId: profile.id } })
  }
}
