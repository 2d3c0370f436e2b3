// `roomkeeper rooms import` and `roomkeeper rooms export`.
import { readOrganisation } from '../../apply/read-organisation.ts'
import { byteOrderMark } from '../../contract/csv.ts'
import { planRooms, readRoomCodes, sitesOnly } from '../../csv/import-rooms.ts'
import { roomsCsv } from '../../csv/room-export.ts'
import { documentOf } from '../../plan/document-of.ts'
import { connectToServer } from '../http/connect.ts'
import type { ConnectionOptions } from '../http/connection.ts'
import { checkOutput, writeOutput } from '../terminal/output-file.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type ImportOptions, importFile } from './import-file.ts'

export async function roomsImport(terminal: Terminal, file: string, options: ImportOptions): Promise<void> {
  await importFile(terminal, file, options, {
    columns: ['organisation', 'room_id', 'enrolment_code', 'enrolment_url', 'result'],
    plan: planRooms,
    answers: async (client, rows, { organisation, progressOf }) => {
      const progress = progressOf(rows.length)
      try {
        const codes = await readRoomCodes(client, rows, { onProgress: () => progress.advance() })
        const codeOf = new Map(codes.map((code) => [code.row, code]))
        return new Map(
          rows.map(({ row, kind, id }) => {
            const { code = '', url = '' } = codeOf.get(row) ?? {}
            const roomId = kind === 'room' && id !== undefined ? String(id) : ''
            return [
              row,
              {
                cells: { organisation, room_id: roomId, enrolment_code: code, enrolment_url: url },
                json: code === '' ? {} : { enrolmentCode: code, enrolmentUrl: url },
              },
            ]
          }),
        )
      } finally {
        progress.end()
      }
    },
  })
}

export async function roomsExport(
  terminal: Terminal,
  { output, bom = false, ...options }: ConnectionOptions & { readonly output?: string; readonly bom?: boolean },
): Promise<void> {
  const { client, connection } = connectToServer(terminal, options)
  if (output !== undefined) checkOutput(output)
  const rooms = roomsCsv(documentOf(await readOrganisation(client, sitesOnly(connection.org))))
  const csv = bom ? byteOrderMark + rooms : rooms
  if (output === undefined) await terminal.writeRaw(csv)
  else await writeOutput(output, csv)
}
