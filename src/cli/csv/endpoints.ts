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
    plan: async (client, bytes) => {
      const sheet = endpointSheetColumns.sheet(readCsv(bytes, endpointSheetColumns.has))
      const snapshot = await readOrganisation(client, { organisation: '', endpoints: [] })
      const serials = new Set(
        snapshot.things.flatMap(({ kind, values }) => (kind === 'endpoint' ? [String(values.serial)] : [])),
      )
      return { sheet, plan: planImport(readEndpoints(sheet, snapshot.organisation, serials), snapshot) }
    },
  })
