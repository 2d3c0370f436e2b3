// Tests that e-mail channels get the figures of a month on its first working day, over a real mail server. [contract 16.monthMessage]
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listDeliveryRows } from '../../../../test/support/channels/channel-rows.ts'
import { MailServer, type ReceivedMail } from '../../../../test/support/channels/mail-server.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { putManyRooms } from '../../../../test/support/reports/many-rooms.ts'
import { makeWorld } from '../../../../test/support/reports/past-world.ts'
import { putWorld } from '../../../../test/support/reports/world-rows.ts'
import { durationText } from '../../../contract/duration-text.ts'
import { availabilityText, shareText } from '../../../contract/reports/figure-texts.ts'

let harness: Harness
let mailServer: MailServer
beforeAll(async () => {
  mailServer = await MailServer.start()
  const options = { smtpUrl: mailServer.url, smtpFrom: 'Roomkeeper <rooms@example.org>' }
  harness = await startHarness(options, { taskPauseShare: 0.02 })
})
afterAll(async () => {
  await harness.close()
  await mailServer.close()
})

/** The task runs every 1.2 seconds here. */
const severalRunsMs = 3000

const monthStart = Date.UTC(2026, 9)
/** 1 November is a Sunday. */
const dueAt = Date.UTC(2026, 10, 2, 6)
const october = 'from=2026-10-01&to=2026-11-01'

async function newOrg(timezone = 'Europe/Oslo'): Promise<TestOrg> {
  const org = await harness.newOrg()
  const { status } = await org.call('PUT', '', { body: { timezone } })
  expect(status).toBe(200)
  return org
}

async function newChannel(org: TestOrg, name: string, fields: object = {}): Promise<number> {
  const body = { name, kind: 'email', to: [`${name}@example.org`], events: ['report.month'], ...fields }
  const reply = await org.call('POST', '/channels', { body })
  expect(reply.status, reply.text).toBe(200)
  return Number(reply.body.id)
}

const mailTo = (name: string): ReceivedMail | undefined =>
  mailServer.mails.find(({ to }) => to[0] === `${name}@example.org`)

async function read(org: TestOrg, path: string) {
  const reply = await org.call('GET', `/reports/${path}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}

const plain = (html: string): string =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

/** The cells of each table of the HTML, which are the same as in the text. */
function tablesOf({ html = '', text }: ReceivedMail): Record<string, string[][]> {
  const tables: Record<string, string[][]> = {}
  for (const [, title = '', body = ''] of html.matchAll(/<h2[^>]*>([^<]*)<\/h2>(.*?)<p style/gs)) {
    const rows = [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell = '']) => plain(cell)),
    )
    tables[title] = rows.slice(1)
    for (const row of rows) expect(text.replaceAll(/ +/g, ' ')).toContain(row.filter(Boolean).join(' '))
  }
  return tables
}

interface ChargedRow {
  readonly room: { readonly name: string }
  readonly location: { readonly name: string }
  readonly deletedAt?: string
  readonly chargedSeconds: number
}

test('on the first working day at 07:00 each e-mail channel that chose it gets the figures of the reports, once', async () => {
  harness.clock.fix(dueAt - 60_000)
  const org = await newOrg()
  await putWorld(harness, org, makeWorld(11, monthStart, dueAt, 12))
  await newChannel(org, 'all')
  await newChannel(org, 'one-region', { regionIds: [2] })
  const other = await newChannel(org, 'others', { events: ['job.ended'] })
  // The task looks a few times before the time has come.
  await sleep(severalRunsMs)
  expect(mailServer.mails).toEqual([])
  harness.clock.fix(dueAt)
  await until('both mails are there', () => mailTo('all') !== undefined && mailTo('one-region') !== undefined)

  const all = mailTo('all') as ReceivedMail
  expect(all.headers.subject).toBe('[Roomkeeper] Rooms in October 2026')
  const tables = tablesOf(all)
  const { availability, incidents } = await read(org, 'month?month=2026-10')
  expect(tables['In short']).toContainEqual([
    'Availability (target 99.5 %)',
    availabilityText(availability.month.availability),
    availabilityText(availability.before.availability),
  ])
  expect(tables['In short']).toContainEqual([
    'Incidents',
    `${incidents.month.incidents}`,
    `${incidents.before.incidents}`,
  ])
  const charged = (await read(org, `availability?${october}&sort=-chargedSeconds&pageSize=5`)).rows
  expect(charged[0].chargedSeconds).toBeGreaterThan(0)
  expect(tables['Rooms with the most charged time']).toEqual(
    charged
      .filter((row: ChargedRow) => row.chargedSeconds > 0)
      .map(({ room, location, deletedAt, chargedSeconds }: ChargedRow) => [
        `${room.name} (${location.name})${deletedAt === undefined ? '' : ', deleted'}`,
        durationText(chargedSeconds * 1000),
      ]),
  )
  const locations = (await read(org, `availability?${october}&groupBy=location&sort=availability&pageSize=5`)).rows
  expect(tables['Locations below the target']).toEqual(
    locations
      .filter((row: { isTargetMet: boolean }) => row.isTargetMet === false)
      .map((row: { location: { name: string }; availability: number }) => [
        row.location.name,
        availabilityText(row.availability),
      ]),
  )

  const region = mailTo('one-region') as ReceivedMail
  expect(region.headers.subject).toBe('[Roomkeeper] Rooms in October 2026: Region 2')
  const ofRegion = await read(org, 'month?month=2026-10&regionId=2')
  expect(region.text).toContain(`${ofRegion.use.month.rooms} rooms`)
  expect(tablesOf(region)['In short']?.[0]?.[1]).toBe(availabilityText(ofRegion.availability.month.availability))
  expect(region.text).toMatch(/\/insights\?month=2026-10&region=2&tab=availability&save=csv/)

  // Later runs of the task, and another day of the week, write no second one.
  harness.clock.fix(dueAt + 3 * 86_400_000)
  await newChannel(org, 'late')
  await until('a channel that chooses it within the week gets it', () => mailTo('late') !== undefined)
  expect(mailServer.mails.map(({ to }) => to[0]).sort()).toEqual(
    ['all', 'late', 'one-region'].map((name) => `${name}@example.org`),
  )
  expect(await listDeliveryRows(harness, other)).toEqual([])
})

test('air and use are those of the reports; names cannot become HTML; nothing measured is a dash', async () => {
  harness.clock.fix(dueAt)
  const org = await newOrg()
  await putManyRooms(harness, org, { rooms: 24, firstDay: monthStart / 86_400_000 - 3, days: 20 })
  // The generated rooms cannot be changed over HTTP: their secrets are not real.
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('rooms')
      .set({ name: '<b>Fjord</b> & Co' })
      .where('org', '=', org.org.key)
      .where('id', 'in', [1, 21])
      .execute(),
  )
  await newChannel(org, 'air')
  await until('the mail is there', () => mailTo('air') !== undefined)
  const mail = mailTo('air') as ReceivedMail
  const folder = process.env.MAIL_FOLDER
  if (folder) {
    mkdirSync(folder, { recursive: true })
    for (const kind of ['html', 'text'] as const) writeFileSync(join(folder, `month.${kind}`), mail[kind] ?? '')
  }
  const tables = tablesOf(mail)
  const named = (
    rows: readonly { room: { name: string }; location: { name: string } }[],
    text: (row: never) => string,
  ) => rows.map((row) => [`${row.room.name} (${row.location.name})`, text(row as never)])
  expect(tables['Rooms with the worst air']).toEqual(
    named(
      (await read(org, `air?${october}&sort=-outsideShare&pageSize=5`)).rows,
      ({ outsideShare }: { outsideShare: number }) => shareText(outsideShare),
    ),
  )
  expect(tables['Rooms used least']).toEqual(
    named((await read(org, `use?${october}&sort=use&pageSize=5`)).rows, ({ use }: { use: number }) => shareText(use)),
  )
  expect(mail.html).toContain('&lt;b&gt;Fjord&lt;/b&gt; &amp; Co')
  expect(mail.html).not.toContain('<b>')
  expect(tables['In short']?.[0]).toEqual(['Availability (target 99.5 %)', '–', '–'])
  expect(Object.keys(tables)).toEqual(['In short', 'Rooms with the worst air', 'Rooms used least'])
})

test('the message waits while the month is not over at a location further west', async () => {
  // 07:00 on Tuesday in Auckland.
  harness.clock.fix(Date.UTC(2026, 10, 30, 18))
  const org = await newOrg('Pacific/Auckland')
  const west = await org.call('POST', '/locations', { body: { name: 'Venice', timezone: 'America/Los_Angeles' } })
  await org.call('POST', '/rooms', { body: { name: 'Pier', locationId: west.body.id } })
  await newChannel(org, 'west')
  harness.clock.fix(Date.UTC(2026, 11, 1, 8) - 1)
  await sleep(severalRunsMs)
  expect(mailTo('west')).toBeUndefined()
  harness.clock.fix(Date.UTC(2026, 11, 1, 8))
  await until('the mail is there', () => mailTo('west') !== undefined)
  expect(mailTo('west')?.headers.subject).toBe('[Roomkeeper] Rooms in November 2026')
})

test('only e-mail channels can choose it', async () => {
  const org = await newOrg()
  const body = { name: 'Hook', kind: 'webhook', url: 'https://hooks.example.org/x', events: ['report.month'] }
  const created = await org.call('POST', '/channels', { body })
  expect([created.status, created.body.violations]).toEqual([
    400,
    [{ field: 'events', error: 'report.month goes to channels of the kind email only. Leave it out' }],
  ])
  const other = await org.call('POST', '/channels', { body: { ...body, events: ['job.ended'] } })
  const changed = await org.call('PUT', `/channels/${other.body.id}`, { body: { events: ['report.month'] } })
  expect(changed.status).toBe(400)
})
