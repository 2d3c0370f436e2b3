// Endpoints as CSV, by serial number: what people set on devices that are enrolled.
import { maxExternalIdLength } from '../contract/fleet/custom-fields.ts'
import { maxAssetTagLength } from '../contract/fleet/endpoints.ts'
import { maxNameLength } from '../contract/shape.ts'
import type { EndpointEntry } from '../plan/document.ts'
import { Columns, placeOf, type Sheet } from './columns.ts'
import { type CsvImport, listImport } from './csv-import.ts'
import type { Mistake } from './mistakes.ts'
import { CellReader, definedOnly } from './values.ts'

const endpointColumns = {
  serial: ['serial_number', 'serialnumber'],
  name: ['device_name'],
  asset_tag: ['assettag'],
  installed_on: ['installedon'],
  warranty_until: ['warrantyuntil'],
  external_id: ['externalid'],
  result: [],
} as const
export type EndpointColumn = keyof typeof endpointColumns

export const endpointSheetColumns = new Columns<EndpointColumn>(endpointColumns, {
  hasFields: true,
  required: [['serial']],
})

/** Whether the devices exist is a question for the plan. */
export function readEndpoints(sheet: Sheet<EndpointColumn>, organisation: string): CsvImport {
  const mistakes: Mistake[] = []
  const rowOfSerial = new Map<string, number>()
  const entries = sheet.lines.flatMap((line) => {
    const reader = new CellReader(line)
    const serial = reader.text('serial', 64) ?? ''
    const before = rowOfSerial.get(serial)
    if (serial === '')
      reader.wrong('serial', 'The row has no serial number. Write that of a device, or remove the row.')
    else if (before !== undefined) reader.wrong('serial', `Row ${before} has the same device. Remove one of the two.`)
    rowOfSerial.set(serial, before ?? line.number)
    const entry: EndpointEntry = {
      serial,
      ...definedOnly({
        name: reader.text('name', maxNameLength),
        assetTag: reader.text('asset_tag', maxAssetTagLength),
        installedOn: reader.day('installed_on'),
        warrantyUntil: reader.day('warranty_until'),
        externalId: reader.text('external_id', maxExternalIdLength),
        fields: reader.customFields(),
      }),
    }
    mistakes.push(...reader.mistakes)
    return reader.mistakes.length > 0 ? [] : [{ row: line.number, entry, name: serial }]
  })
  return listImport(organisation, 'endpoints', entries, mistakes, (_, key) =>
    placeOf(sheet, key === 'serial' ? 'serial' : key === 'externalId' ? 'external_id' : undefined),
  )
}
