// The mail about a month: short tables in HTML and in text, with links to the pages that have all rows, and to their CSV. [contract 16.monthMessage]
import { durationText } from '../../../../contract/duration-text.ts'
import { secondMs } from '../../../../contract/durations.ts'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { availabilityText, noFigure, shareText } from '../../../../contract/reports/figure-texts.ts'
import type { MonthMessage, MonthMessageRow, MonthMessageTotals } from '../../../../contract/reports/month-message.ts'
import { oneLine } from '../../../../contract/words.ts'
import { html } from '../../../core/html.ts'
import type { Mail } from '../../../outbound/mailer.ts'

interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly links: readonly Link[]
}

interface Link {
  readonly text: string
  readonly url: string
}

/** The table of a page of the console that has all rows. */
interface WholeTable {
  readonly tab: string
  /** The value of `save` in the address that saves the table as CSV. */
  readonly save: string
}

export function monthMail(report: MonthMessage, pageUrl: string): Pick<Mail, 'subject' | 'text' | 'html'> {
  const { rooms, figures } = report
  const title = monthTitle(report)
  const count = `${rooms.toLocaleString('en-GB')} ${rooms === 1 ? 'room' : 'rooms'}`
  const lines = figures
    ? [`${count}. Incidents count at any hour, everything else in the working hours of the organisation.`]
    : [`${count}. These are too many for a mail with figures. The page has them by room.`]
  const tables = figures ? tablesOf(report, figures, pageUrl) : []
  return {
    subject: `[Roomkeeper] ${title}`,
    text: textOf([title, ...lines, pageUrl], tables),
    html: htmlOf(title, lines, pageUrl, tables),
  }
}

const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const monthName = (month: string): string => monthFormat.format(Date.parse(`${month}-01`))

/** "Rooms in October 2026: Nordics, Iberia" */
export function monthTitle({ month, places = [], otherPlaceCount = 0 }: MonthMessage): string {
  const named = places.map(oneLine).join(', ')
  const others = otherPlaceCount > 0 ? ` and ${otherPlaceCount} more` : ''
  return `Rooms in ${monthName(month)}${named === '' ? '' : `: ${named}${others}`}`
}

function tablesOf(
  { month, before }: MonthMessage,
  { availabilityTarget, totals, ...lists }: NonNullable<MonthMessage['figures']>,
  pageUrl: string,
): Table[] {
  const total = (name: string, text: (of: MonthMessageTotals) => string) => [
    name,
    text(totals.month),
    text(totals.before),
  ]
  const list = (
    title: string,
    head: readonly [string, string],
    rows: readonly MonthMessageRow[],
    text: (value: number) => string,
    { tab, save }: WholeTable,
  ): Table[] => {
    if (rows.length === 0) return []
    const url = `${pageUrl}&tab=${tab}`
    const links = [
      { text: 'All in Roomkeeper', url },
      { text: 'CSV', url: `${url}&save=${save}` },
    ]
    return [{ title, head, rows: rows.map((row) => [placeName(row), text(row.value)]), links }]
  }
  return [
    {
      title: 'In short',
      head: ['', monthName(month), monthName(before)],
      rows: [
        total(`Availability (target ${availabilityTarget} %)`, (of) => availabilityText(of.availability)),
        total('Rooms below the target', (of) => of.roomsBelowTarget?.toLocaleString('en-GB') ?? noFigure),
        total('Time in use', (of) => shareText(of.use)),
        total('Air outside its limits', (of) => shareText(of.outsideShare)),
        total('Incidents', (of) => of.incidents.toLocaleString('en-GB')),
        total('Median time to the end of an incident', (of) => secondsText(of.endMedianSeconds)),
      ],
      links: [{ text: 'Open in Roomkeeper', url: pageUrl }],
    },
    ...list('Locations below the target', ['Location', 'Availability'], lists.locationsBelowTarget, availabilityText, {
      tab: 'availability',
      save: 'locations',
    }),
    ...list('Rooms with the most charged time', ['Room', 'Charged'], lists.mostCharged, secondsText, {
      tab: 'availability',
      save: 'csv',
    }),
    ...list('Rooms with the worst air', ['Room', 'Time outside the limits'], lists.worstAir, shareText, {
      tab: 'air',
      save: 'csv',
    }),
    ...list('Rooms used least', ['Room', 'Time in use'], lists.leastUsed, shareText, { tab: 'use', save: 'csv' }),
  ]
}

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined ? noFigure : durationText(seconds * secondMs)

function placeName({ name, locationName, isDeleted }: MonthMessageRow): string {
  if (name === '') return 'Rooms without a location'
  return oneLine(`${placedRoomName(name, locationName)}${isDeleted ? ', deleted' : ''}`)
}

function textOf(head: readonly string[], tables: readonly Table[]): string {
  const parts = tables.map(({ title, head: titles, rows, links }) => {
    const lines = [...columns([titles, ...rows]), ...links.map(({ text, url }) => `${text}: ${url}`)]
    return [title, ...lines.map((line) => `  ${line}`)].join('\n')
  })
  return `${[head.join('\n'), ...parts].join('\n\n')}\n`
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

const cellStyle = 'padding:4px 16px 4px 0;border-bottom:1px solid #d5d9e0;text-align:left'

/** Mail programs ignore style sheets. Each cell therefore has its style. */
function htmlOf(title: string, lines: readonly string[], pageUrl: string, tables: readonly Table[]): string {
  const link = ({ text, url }: Link) => html`<a href="${url}">${text}</a>`
  const cells = (row: readonly string[]) => row.map((cell) => html`<td style="${cellStyle}">${cell}</td>`)
  const titles = (row: readonly string[]) => row.map((cell) => html`<th style="${cellStyle}">${cell}</th>`)
  const parts = tables.map(
    ({ title: name, head, rows, links }) => html`
      <h2 style="font-size:16px;margin:24px 0 8px">${name}</h2>
      <table style="border-collapse:collapse;font-size:14px">
      <tr>${titles(head)}</tr>
      ${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}
      </table>
      <p style="font-size:13px">${links.map((one, i) => [i > 0 && ' · ', link(one)])}</p>`,
  )
  return html`<!doctype html>
    <html lang="en"><body style="font-family:Inter,Arial,sans-serif;font-size:14px;color:#1c2430">
    <h1 style="font-size:20px;margin:0 0 8px">${title}</h1>
    ${lines.map((line) => html`<p>${line}</p>\n`)}
    ${parts}
    <p>${link({ text: 'All reports of the month', url: pageUrl })}</p>
    </body></html>`.text
}
