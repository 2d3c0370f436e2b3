// The rows of a file as a part of the organisation's document, which the plan compares with the present state.
import type { OrganisationDocument } from '../plan/document.ts'
import type { Mistake } from './mistakes.ts'

export interface CsvImport {
  readonly document: OrganisationDocument
  readonly rows: readonly ImportRow[]
  /** A row with a mistake is not in the document. */
  readonly mistakes: readonly Mistake[]
  /** The first row that names an entry of the document, by the JSON Pointer of the entry. */
  readonly rowOfPointer: ReadonlyMap<string, number>
  /** The column of a value of an entry, such as `externalId` or `options/kind`. */
  readonly placeOfValue: PlaceOfValue
}

export type PlaceOfValue = (entryPointer: string, key: string) => Pick<Mistake, 'column' | 'header'>

export interface ImportRow {
  readonly number: number
  /** The most specific entry that the row names, such as its room. */
  readonly pointer: string
  /** From the region to the room. */
  readonly names: readonly string[]
}

/** One row is one entry of a list at the top of the document. */
export function listImport<K extends 'endpoints' | 'gatewayDevices'>(
  organisation: string,
  key: K,
  entries: readonly {
    readonly row: number
    readonly entry: NonNullable<OrganisationDocument[K]>[number]
    readonly name: string
  }[],
  mistakes: readonly Mistake[],
  placeOfValue: PlaceOfValue,
): CsvImport {
  const rows = entries.map(({ row, name }, index) => ({ number: row, pointer: `/${key}/${index}`, names: [name] }))
  return {
    document: { organisation, [key]: entries.map(({ entry }) => entry) },
    rows,
    mistakes,
    rowOfPointer: new Map(rows.map(({ number, pointer }) => [pointer, number])),
    placeOfValue,
  }
}
