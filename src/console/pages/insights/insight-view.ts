// The address, the window and the query of reports, which every tab of the insights gets.
import type { InsightWindow } from './insight-window.ts'
import type { ChangeSearch, InsightSearch, ReportFilter } from './report-filter.ts'

export interface InsightView {
  readonly search: InsightSearch
  readonly change: ChangeSearch
  readonly window: InsightWindow
  /** Today in the time zone of the organisation. */
  readonly today: string
  readonly filter: ReportFilter
}
