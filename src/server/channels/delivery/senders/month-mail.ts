// The mail about a month: short tables in HTML and in text, with links to the pages that have all rows, and to their CSV. [contract 16.monthMessage]
import { durationText } from '../../../../contract/duration-text.ts'
import { secondMs } from '../../../../contract/durations.ts'
import { availabilityText, noFigure, shareText } from '../../../../contract/reports/figure-texts.ts'
import type { MonthMessage, MonthMessageRow, MonthMessageTotals } from '../../../../contract/reports/month-message.ts'
import { oneLine } from '../../../../contract/words.ts'
import type { Mail } from '../../../outbound/mailer.ts'

interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Instead of rows, if there are none. */
  readonly empty?: string
  /** The tab of the insights that has all rows. */
  readonly tab: string
}

export function monthMail(report: MonthMessage, pageUrl: string): Pick<Mail, 'subject' | 'text' | 'html'> {
  const { rooms, places = [] } = report
  const title = `Rooms in ${monthName(report.month)}${places.length > 0 ? `: ${places.map(oneLine).join(', ')}` : ''}`
  const about = `${rooms.toLocaleString('en-GB')} ${rooms === 1 ? 'room' : 'rooms'}, in the working hours of the organisation.`
  const tables = tablesOf(report)
  const note =
    tables.length === 0 ? 'There are too many rooms for a mail with figures. The page has all of them.' : undefined
  const linksOf = ({ tab }: Pick<Table, 'tab'>) => {
    const url = `${pageUrl}&tab=${tab}`
    return { page: url, csv: `${url}&save=csv` }
  }
  return {
    subject: `[Roomkeeper] ${title}`,
    text: textOf([title, about, ...(note ? [note] : []), pageUrl], tables, linksOf),
    html: htmlOf([title, about, ...(note ? [note] : [])], pageUrl, tables, linksOf),
  }
}

const monthFormat = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
export const monthName = (month: string): string => monthFormat.format(Date.parse(`${month}-01`))

function tablesOf({ month, before, figures }: MonthMessage): Table[] {
  if (!figures) return []
  const { availabilityTarget, totals, locationsBelowTarget, mostCharged, worstAir, leastUsed } = figures
  const total = (name: string, text: (of: MonthMessageTotals) => string) => [
    name,
    text(totals.month),
    text(totals.before),
  ]
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
        total('Half of them ended within', (of) => secondsText(of.endMedianSeconds)),
      ],
      tab: 'availability',
    },
    {
      title: 'Locations below the target',
      head: ['Location', 'Availability'],
      rows: locationsBelowTarget.map((row) => [placeName(row), availabilityText(row.value)]),
      empty: 'No location is below the target.',
      tab: 'availability',
    },
    {
      title: 'Rooms that were away longest',
      head: ['Room', 'Time that counts against it'],
      rows: mostCharged.map((row) => [placeName(row), secondsText(row.value)]),
      empty: 'No time counts against any room.',
      tab: 'availability',
    },
    {
      title: 'Rooms with the worst air',
      head: ['Room', 'Time outside the limits'],
      rows: worstAir.map((row) => [placeName(row), shareText(row.value)]),
      empty: 'The air of no room was outside its limits, or none was measured.',
      tab: 'air',
    },
    {
      title: 'Rooms used least',
      head: ['Room', 'Time in use'],
      rows: leastUsed.map((row) => [placeName(row), shareText(row.value)]),
      empty: 'The use of no room was measured.',
      tab: 'use',
    },
  ]
}

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined ? noFigure : durationText(seconds * secondMs)

function placeName({ name, locationName }: MonthMessageRow): string {
  if (name === '') return 'Rooms without a location'
  return oneLine(locationName === undefined ? name : `${name} (${locationName})`)
}

type LinksOf = (table: Table) => { readonly page: string; readonly csv: string }

function textOf(head: readonly string[], tables: readonly Table[], linksOf: LinksOf): string {
  const parts = tables.map((table) => {
    const lines = table.rows.length > 0 ? columns([table.head, ...table.rows]) : [table.empty ?? '']
    const { page, csv } = linksOf(table)
    return [table.title, ...lines.map((line) => `  ${line}`), `  All: ${page}`, `  CSV: ${csv}`].join('\n')
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

/** Mail programs ignore style sheets, so that each cell has its style. */
function htmlOf(
  [title = '', ...lines]: readonly string[],
  pageUrl: string,
  tables: readonly Table[],
  linksOf: LinksOf,
) {
  const row = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag} style="${cellStyle}">${escaped(cell)}</${tag}>`).join('')}</tr>`
  const link = (url: string, text: string) => `<a href="${escaped(url)}">${escaped(text)}</a>`
  const parts = tables.map((table) => {
    const { page, csv } = linksOf(table)
    const body =
      table.rows.length > 0
        ? `<table style="border-collapse:collapse;font-size:14px">${row(table.head, 'th')}${table.rows.map((cells) => row(cells, 'td')).join('')}</table>`
        : `<p>${escaped(table.empty ?? '')}</p>`
    return `<h2 style="font-size:16px;margin:24px 0 8px">${escaped(table.title)}</h2>${body}<p style="font-size:13px">${link(page, 'Open in Roomkeeper')} · ${link(csv, 'CSV')}</p>`
  })
  return [
    '<!doctype html><html lang="en"><body style="font-family:Inter,Arial,sans-serif;font-size:14px;color:#1c2430">',
    `<h1 style="font-size:20px;margin:0 0 8px">${escaped(title)}</h1>`,
    ...lines.map((line) => `<p>${escaped(line)}</p>`),
    ...parts,
    `<p>${link(pageUrl, 'All reports of the month')}</p></body></html>`,
  ].join('\n')
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
