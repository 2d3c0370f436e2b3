// `roomkeeper endpoints import`.
import { readOrganisation } from '../../apply/read-organisation.ts'
import { endpointSheetColumns, readEndpoints } from '../../csv/endpoints.ts'
import { readCsv } from '../../csv/read-csv.ts'
import { planImport } from '../../csv/row-fates.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type ImportOptions, importFile } from './import-file.ts'

export const endpointsImport = (terminal: Terminal, file: string, options: ImportOptions): Promise<void> =>
  importFile(terminal, file, options, {
    columns: ['result'],
    plan: async (client, bytes, organisation) => {
      const sheet = endpointSheetColumns.sheet(readCsv(bytes, endpointSheetColumns.has))
      const rows = readEndpoints(sheet, organisation)
      return { sheet, plan: planImport(rows, await readOrganisation(client, rows.document)) }
    },
  })
