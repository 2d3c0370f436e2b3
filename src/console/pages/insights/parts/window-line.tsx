// Says in one line what the figures of a tab are about: window, hours, and from when on the past is known.
import { Text } from '@mantine/core'
import { dayTitle, type InsightWindow } from '../insight-window.ts'

interface WindowLineProps {
  readonly window: InsightWindow
  readonly report: {
    readonly hours: string
    readonly days: string
    readonly from: string
    readonly quartersFrom: string
    readonly pastFrom?: string | undefined
  }
  /** Whether the figures are about quarters of an hour. */
  readonly hasQuarters: boolean
}

const weekdayNames: Readonly<Record<string, string>> = {
  ...{
    mon: 'Monday',
    tue: 'Tuesday',
    wed: 'Wednesday',
    thu: 'Thursday',
    fri: 'Friday',
    sat: 'Saturday',
    sun: 'Sunday',
  },
}
const order = Object.keys(weekdayNames)

/** "Monday to Friday" */
export function daysText(days: string): string {
  const chosen = order.filter((day) => days.split(',').includes(day))
  if (chosen.length === order.length) return 'every day'
  const names = chosen.map((day) => weekdayNames[day])
  const [first = '', last = ''] = [chosen[0], chosen.at(-1)]
  const isRun = order.indexOf(last) - order.indexOf(first) === chosen.length - 1
  return isRun && chosen.length > 2 ? `${names[0]} to ${names.at(-1)}` : names.join(', ')
}

export function WindowLine({ window, report, hasQuarters }: WindowLineProps) {
  const hours = report.hours === 'always' ? 'all hours' : report.hours.replace('-', ' to ')
  const isShortened = hasQuarters && Date.parse(report.quartersFrom) > Date.parse(report.from)
  return (
    <Text fz="sm" c="dimmed">
      {window.title}, {daysText(report.days)}, {hours}, on the clocks of each location.
      {isShortened && ` Measured values are known from ${dayTitle(report.quartersFrom)} on.`}
      {report.pastFrom &&
        Date.parse(report.pastFrom) > Date.parse(report.from) &&
        ` Deleted rooms, ended silences and former change windows are known from ${dayTitle(report.pastFrom)} on.`}
    </Text>
  )
}
