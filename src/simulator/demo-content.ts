// Adds content that makes the demo worth a look, once for each organisation: a profile, a shorter rule, and jobs of its devices, one of them every night.
import type { Client } from '../client/client.ts'
import { weekdays } from '../contract/weekly-hours.ts'

const profileName = 'Quiet rooms'

export async function addDemoContent(client: Client): Promise<void> {
  const { profiles } = (await client.profilesList()).body
  if (profiles.some(({ name }) => name === profileName)) return

  // A visitor does not wait for an hour until the lost camera of a codec counts as missing.
  await client.incidentRulesUpdate({
    rule: 'peripheral.missing',
    body: { holdMinutes: 1, limits: { connectedMinutes: 3 } },
  })

  const { profile } = (
    await client.profilesCreate({
      body: {
        name: profileName,
        description: 'Dark and silent at night',
        config: { nightMode: true, brightness: 0.4, screenStandby: 600_000 },
      },
    })
  ).body
  const { rooms } = (await client.roomsList()).body
  for (const room of rooms.slice(1, 4)) {
    await client.roomsAssignProfile({ id: room.id, body: { profileId: profile.id } })
  }

  const { regions } = (await client.regionsList()).body
  const [first, second] = regions
  if (!first || !second) return
  // This job ends while the visitor looks, and the other one waits for the night.
  await client.jobsCreate({
    body: {
      name: `Wake up when people come · ${first.name}`,
      target: { regionIds: [first.id] },
      action: { type: 'CONFIG', config: { autoWakeup: true } },
      stages: [{ rooms: 1 }, { percent: 100 }],
      soakMinutes: 1,
      respect: { idle: false, window: false },
      start: true,
    },
  })
  await client.jobsCreate({
    body: {
      name: `Restart at night · ${second.name}`,
      target: { regionIds: [second.id] },
      action: { type: 'REBOOT' },
      respect: { idle: true, window: true },
      start: true,
    },
  })
  await client.recurringJobsCreate({
    body: {
      name: 'Restart every night',
      target: { all: true },
      action: { type: 'REBOOT' },
      schedule: { days: [...weekdays], at: '03:00' },
    },
  })
}
