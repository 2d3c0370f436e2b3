// Says in one line what the figures of a tab are about: window, hours, and from when on the past is known.
import { Text } from '@mantine/core'
import { dayTitle, hoursText } from '../../../domain/reports/report-days.ts'
import type { InsightWindow } from '../insight-window.ts'

interface WindowLineProps {
  readonly window: InsightWindow
  readonly report: {
    readonly hours: string
    readonly days: string
    readonly from: string
    readonly quartersFrom: string
    readonly pastFrom?: string | undefined
    readonly incidentsFrom?: string | undefined
  }
  /** Whether the figures are about quarters of an hour. */
  readonly hasQuarters: boolean
}

export function WindowLine({ window, report, hasQuarters }: WindowLineProps) {
  const isShortened = hasQuarters && Date.parse(report.quartersFrom) > Date.parse(report.from)
  return (
    <Text fz="sm" c="dimmed">
      {window.title}, {hoursText(report)}, on the clocks of each location.
      {isShortened && ` Measured values are known from ${dayTitle(report.quartersFrom)} on.`}
      {report.pastFrom &&
        Date.parse(report.pastFrom) > Date.parse(report.from) &&
        ` Deleted rooms, ended silences and former change windows are known from ${dayTitle(report.pastFrom)} on.`}
      {report.incidentsFrom &&
        Date.parse(report.incidentsFrom) > Date.parse(report.from) &&
        ` Incidents are known from ${dayTitle(report.incidentsFrom)} on.`}
    </Text>
  )
}
