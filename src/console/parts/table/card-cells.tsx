// The cells of a row that is shown as a card: its heading, its corner, and the other columns with their titles.
// biome-ignore-all lint/a11y/useSemanticElements: cards are not laid out as the cells of a table element
// biome-ignore-all lint/a11y/useFocusableInteractive: the links and buttons in the cells take the focus
import { type Column, hasValueIn, placeInCard, type RowDetails } from './column.ts'
import classes from './data-table.module.css'

interface CardCellsProps<T> {
  readonly columns: readonly Column<T>[]
  readonly row: T
  readonly details: RowDetails
}

export function CardCells<T>({ columns, row, details }: CardCellsProps<T>) {
  const placed = placeInCard(columns)
  // Empty cells would take lines of a small screen.
  const lines = placed.filter(({ column, place }) => place === 'line' && hasValueIn(column, row))
  return (
    <>
      {placed
        .filter(({ place }) => place !== 'line')
        .map(({ column, place }) => (
          <div key={column.id} role="cell" className={classes[place]}>
            {column.cell(row, details)}
          </div>
        ))}
      {lines.length > 0 && (
        <div className={classes.lines}>
          {lines.map(({ column }) => (
            <div key={column.id} role="cell" className={classes.line}>
              {!column.isControl && <span className={classes.title}>{column.title} </span>}
              <span className={classes.value}>{column.cell(row, details)}</span>
            </div>
          ))}
        </div>
      )}
    </>
  )
}
