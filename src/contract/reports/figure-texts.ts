// Figures of reports as text.

export const noFigure = '–'

/** "42 %". A share that is neither nothing nor all is shown as neither. */
export const shareText = (share: number | undefined): string =>
  share === undefined ? noFigure : `${shareNumber(share)} %`

export function shareNumber(share: number): string {
  const percent = Math.round(share * 100)
  if (percent === 0 && share > 0) return '<1'
  if (percent === 100 && share < 1) return '>99'
  return String(percent)
}

const twoDecimals = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
/** Rounded down: 99.496 % must not look like a target of 99.5 % that was met. */
export const availabilityText = (share: number | undefined): string =>
  share === undefined ? noFigure : `${twoDecimals.format(Math.floor(share * 10_000 + 1e-6) / 100)} %`
