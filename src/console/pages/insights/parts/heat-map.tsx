// A table of hours and weekdayTitles: each cell has a number and a colour, and opens what is behind it.
import type { KeyboardEvent } from 'react'
import { hourRange, weekdayTitles } from '../../../domain/reports/week-use.ts'
import { VisuallyHidden } from '../../../parts/page/visually-hidden.tsx'
import classes from './heat-map.module.css'

interface HeatMapProps {
  readonly label: string
  /** Days of the week, 0 is Monday, and hours of the day. */
  readonly days: readonly number[]
  readonly hours: readonly number[]
  /** 0 to 1; undefined if nothing was measured. */
  readonly shareOf: (hourOfWeek: number) => number | undefined
  /** The cell in words, without its time. */
  readonly textOf: (hourOfWeek: number) => string
  readonly chosen: number | undefined
  readonly onChoose: (hourOfWeek: number | undefined) => void
}

export function HeatMap({ label, days, hours, shareOf, textOf, chosen, onChoose }: HeatMapProps) {
  const known = days.flatMap((day) => hours.map((hour) => day * 24 + hour)).filter((at) => shareOf(at) !== undefined)
  // One cell is a tab stop, and arrow keys move from it.
  const tabStop = chosen !== undefined && known.includes(chosen) ? chosen : known[0]
  return (
    <table className={classes.map} aria-label={label} onKeyDown={moveFocus}>
      <thead>
        <tr>
          <td />
          {days.map((day) => (
            <th key={day} scope="col">
              <abbr title={weekdayTitles[day]}>{weekdayTitles[day]?.slice(0, 3)}</abbr>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {hours.map((hour) => (
          <tr key={hour}>
            <th scope="row">{String(hour).padStart(2, '0')}</th>
            {days.map((day) => {
              const at = day * 24 + hour
              const share = shareOf(at)
              if (share === undefined)
                return (
                  <td key={day} className={classes.unknown}>
                    <span aria-hidden="true">–</span>
                    <VisuallyHidden>not measured</VisuallyHidden>
                  </td>
                )
              return (
                <td key={day}>
                  <button
                    type="button"
                    className={classes.cell}
                    style={{ '--share': share } as never}
                    data-at={at}
                    tabIndex={at === tabStop ? 0 : -1}
                    aria-pressed={at === chosen}
                    aria-label={`${weekdayTitles[day]} ${hourRange(hour)}: ${textOf(at)}`}
                    onClick={() => onChoose(at === chosen ? undefined : at)}
                  >
                    {Math.round(share * 100)}
                  </button>
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -24, ArrowRight: 24, ArrowUp: -1, ArrowDown: 1 }
const weekHourCount = 168

/** Moves to the next cell in the direction of the key, over cells without a value. */
function moveFocus(event: KeyboardEvent<HTMLTableElement>): void {
  const step = steps[event.key]
  const from = (event.target as HTMLElement).dataset.at
  if (step === undefined || from === undefined) return
  event.preventDefault()
  const day = Math.floor(Number(from) / 24)
  for (let at = Number(from) + step; at >= 0 && at < weekHourCount; at += step) {
    if (Math.abs(step) === 1 && Math.floor(at / 24) !== day) return
    const cell = event.currentTarget.querySelector<HTMLElement>(`[data-at="${at}"]`)
    if (!cell) continue
    cell.focus()
    return
  }
}
