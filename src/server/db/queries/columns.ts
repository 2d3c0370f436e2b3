// Takes some columns of a row, or their placeholders in a query. A store names the columns of its noun once and uses the list everywhere.

export function pickColumns<T extends object, K extends keyof T>(row: T, columns: readonly K[]): Pick<T, K> {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<T, K>
}
