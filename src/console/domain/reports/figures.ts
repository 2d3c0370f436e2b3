// Figures of reports as text.
import { durationText } from '../../../contract/duration-text.ts'
import { noFigure } from '../../../contract/reports/figure-texts.ts'

const people = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

export const peopleFigure = (count: number | undefined): string =>
  count === undefined ? noFigure : people.format(count)

/** Quarters of an hour as a duration. */
export const quartersText = (quarters: number | undefined): string =>
  quarters === undefined ? noFigure : durationText(quarters * 900_000)
