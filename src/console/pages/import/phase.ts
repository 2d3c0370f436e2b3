// The phases of the import page: a file is chosen, read, planned and applied, and its codes are printed.
import type { PlannedRooms, RoomCode } from '../../../csv/import-rooms.ts'
import type { ImportedRow } from '../../../csv/run-import.ts'

export interface PlannedFile {
  readonly name: string
  readonly planned: PlannedRooms
}

export type Phase =
  | {
      readonly name: 'choosing'
      readonly refused?: { readonly fileName: string; readonly mistakes: readonly string[] }
    }
  | Running
  | { readonly name: 'planned'; readonly file: PlannedFile }
  | Finished
  | { readonly name: 'codes'; readonly codes: readonly RoomCode[]; readonly finished: Finished }

export interface Running {
  readonly name: 'reading' | 'running'
  readonly text: string
  readonly done: number
  readonly all: number
  /** The server has asked for this pause, because there were too many requests. */
  readonly waitSeconds?: number
}

export interface Finished {
  readonly name: 'finished'
  readonly file: PlannedFile
  readonly rows: readonly ImportedRow[]
  /** Why the codes could not be read. */
  readonly codesProblem?: string
}
