// The import while it runs, and what became of each row.
import { Button, Card, Group, Progress, Stack, Text } from '@mantine/core'
import { countsOf } from '../../../csv/run-import.ts'
import { Section } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { DropZone } from './choose-file.tsx'
import type { Finished, Running } from './phase.ts'
import { ResultCounts, RowTable } from './row-table.tsx'

interface RunningViewProps {
  readonly phase: Running
  readonly onStop: () => void
}

export const RunningView = ({ phase: { text, done, all, waitSeconds }, onStop }: RunningViewProps) => (
  <Card bg="var(--rk-panel)">
    <Stack>
      <Text role="status">
        {text}
        {all > 0 && `: ${done.toLocaleString('en-GB')} of ${all.toLocaleString('en-GB')}`}
        {waitSeconds !== undefined && `. The server asks to wait ${waitSeconds} s.`}
      </Text>
      <Progress value={all > 0 ? (100 * done) / all : 100} animated={all === 0} aria-label={text} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onStop}>
          Stop
        </Button>
      </Group>
    </Stack>
  </Card>
)

interface ResultViewProps extends Finished {
  readonly onFile: (file: File) => void
  readonly onSaveRows: () => void
  readonly onSaveCodes: () => void
  readonly onPrintCodes: () => void
}

export function ResultView(props: ResultViewProps) {
  const { file, rows, codesProblem, onFile, onSaveRows, onSaveCodes, onPrintCodes } = props
  const counts = countsOf(rows)
  const left = (counts.failed ?? 0) + (counts.notApplied ?? 0)
  const hasRooms = rows.some(({ kind, id }) => kind === 'room' && id !== undefined)
  return (
    <>
      <Section
        title={`Result of ${file.name}`}
        actions={
          hasRooms ? (
            <Group gap="xs">
              <Button variant="default" onClick={onSaveCodes}>
                Codes as CSV
              </Button>
              <Button onClick={onPrintCodes}>Print codes</Button>
            </Group>
          ) : undefined
        }
      >
        <ResultCounts counts={counts} />
        <Text mt="sm" role={left > 0 ? 'alert' : 'status'}>
          {left > 0
            ? `${plural(left, 'row')} ${left === 1 ? 'was' : 'were'} not applied. Drop the file again to apply the rest: what is done is not done twice.`
            : 'The organisation is as the file says.'}
        </Text>
        {codesProblem !== undefined && (
          <Text role="alert" c="var(--rk-offline)" fz="sm">
            {codesProblem}
          </Text>
        )}
      </Section>
      <RowTable label="Rows of the file" rows={rows} onSave={onSaveRows} />
      <Card bg="var(--rk-panel)">
        <DropZone label="Choose a file" onFile={onFile}>
          <Text>{left > 0 ? 'Drop the same file again, or another one.' : 'Drop another file.'}</Text>
        </DropZone>
      </Card>
    </>
  )
}
