// The page that imports rooms: a file, what would become of its rows, the changes, and the enrolment codes.
import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type Waiting, waitingFetch } from '../../../client/waiting-fetch.ts'
import { importableRow } from '../../../contract/csv.ts'
import { planRooms, type RoomCode, readRoomCodes } from '../../../csv/import-rooms.ts'
import { CsvError } from '../../../csv/mistakes.ts'
import { checkFileSize } from '../../../csv/read-csv.ts'
import { type ImportedRow, runImport } from '../../../csv/run-import.ts'
import { endSessionIfUnauthorized, errorMessage, queryClient } from '../../api.ts'
import { Page } from '../../parts/page/page.tsx'
import { saveCsv } from '../../parts/page/save-file.ts'
import { markForm } from '../../parts/recovery/unsaved-input.ts'
import { clientThrough, currentSession, usePermissions } from '../../session.ts'
import { ChooseFile } from './choose-file.tsx'
import { CodeSheet } from './code-sheet.tsx'
import type { Finished, Phase, PlannedFile } from './phase.ts'
import { PlanView } from './plan-view.tsx'
import { resultCsv } from './result-csv.ts'
import { ResultView, RunningView } from './result-view.tsx'

const codesCsv = (codes: readonly RoomCode[]): string =>
  [
    ['region', 'location', 'room', 'enrolment_code', 'enrolment_url'],
    ...codes.map(({ region, location, room, code, url }) => [region, location, room, code, url]),
  ]
    .map((cells) => importableRow(cells, ','))
    .join('')

export function ImportPage() {
  const [phase, setPhase] = useState<Phase>({ name: 'choosing' })
  const stop = useRef<AbortController>(undefined)
  const may = usePermissions()
  const isBusy = phase.name === 'reading' || phase.name === 'running'
  // A reload would stop the import, so the console does not reload by itself meanwhile.
  useEffect(() => {
    const form = {}
    markForm(form, isBusy)
    return () => markForm(form, false)
  }, [isBusy])
  useEffect(() => () => stop.current?.abort(), [])

  const onWait = ({ seconds }: Waiting) =>
    setPhase((before) => ('done' in before ? { ...before, waitSeconds: seconds } : before))

  /** The server limits how many requests a caller sends, and an import has many. */
  const patientClient = (stop: AbortSignal) => clientThrough((send) => waitingFetch(onWait, send, stop))

  const start = () => {
    stop.current = new AbortController()
    return stop.current.signal
  }

  const read = async (file: File) => {
    const signal = start()
    setPhase({ name: 'reading', text: `Reading ${file.name}…`, done: 0, all: 0 })
    try {
      checkFileSize(file.size)
      const planned = await planRooms(
        patientClient(signal),
        new Uint8Array(await file.arrayBuffer()),
        currentSession().org.id,
        { signal },
      )
      setPhase({ name: 'planned', file: { name: file.name, planned } })
    } catch (error) {
      endSessionIfUnauthorized(error)
      if (signal.aborted) return setPhase({ name: 'choosing' })
      const mistakes = error instanceof CsvError ? error.message.split('\n') : [errorMessage(error)]
      setPhase({ name: 'choosing', refused: { fileName: file.name, mistakes } })
    }
  }

  const apply = async (file: PlannedFile) => {
    const signal = start()
    const all = file.planned.plan.plan.steps.length
    const onProgress = (done: number) => setPhase({ name: 'running', text: 'Changing the organisation', done, all })
    onProgress(0)
    try {
      const rows = await runImport(patientClient(signal), file.planned.plan, { signal, onProgress })
      setPhase({ name: 'finished', file, rows })
    } catch (error) {
      endSessionIfUnauthorized(error)
      setPhase({ name: 'choosing', refused: { fileName: file.name, mistakes: [errorMessage(error)] } })
    } finally {
      await queryClient.invalidateQueries()
    }
  }

  /** The codes of rooms that were made or changed are known; those of other rooms are read. */
  const withCodes = async ({ codesProblem: _, ...finished }: Finished, next: (codes: readonly RoomCode[]) => void) => {
    const signal = start()
    const all = finished.rows.length
    const onProgress = (done: number) => setPhase({ name: 'running', text: 'Reading the enrolment codes', done, all })
    try {
      const codes = await readRoomCodes(patientClient(signal), finished.rows, { signal, onProgress })
      setPhase(finished)
      next(codes)
    } catch (error) {
      endSessionIfUnauthorized(error)
      setPhase(signal.aborted ? finished : { ...finished, codesProblem: errorMessage(error) })
    }
  }
  const saveRows = ({ name, planned }: PlannedFile, rows: readonly ImportedRow[]) =>
    saveCsv(resultCsv(planned, rows, currentSession().org.id), `${name.replace(/\.\w+$/, '')} result.csv`)
  const saveCodes = (codes: readonly RoomCode[]) => saveCsv(codesCsv(codes), 'enrolment codes.csv')

  if (phase.name === 'codes') {
    const { codes, finished } = phase
    return <CodeSheet codes={codes} onSave={() => saveCodes(codes)} onClose={() => setPhase(finished)} />
  }
  return (
    <Page
      title="Import rooms"
      above={
        <Anchor component={Link} to="/sites" fz="sm">
          Sites
        </Anchor>
      }
    >
      {phase.name === 'choosing' && (
        <ChooseFile refused={phase.refused} onFile={(file) => void read(file)} mayWrite={may.write} />
      )}
      {(phase.name === 'reading' || phase.name === 'running') && (
        <RunningView phase={phase} onStop={() => stop.current?.abort()} />
      )}
      {phase.name === 'planned' && (
        <PlanView
          file={phase.file}
          onFile={(file) => void read(file)}
          onApply={() => void apply(phase.file)}
          onSaveRows={(rows) => saveRows(phase.file, rows)}
        />
      )}
      {phase.name === 'finished' && (
        <ResultView
          {...phase}
          onFile={(file) => void read(file)}
          onSaveRows={() => saveRows(phase.file, phase.rows)}
          onSaveCodes={() => void withCodes(phase, saveCodes)}
          onPrintCodes={() => void withCodes(phase, (codes) => setPhase({ name: 'codes', codes, finished: phase }))}
        />
      )}
    </Page>
  )
}
