// Takes a file: dropped, or chosen with a button.
import { Button, Card, Code, FileButton, Group, List, Stack, Text } from '@mantine/core'
import { type DragEvent, type ReactNode, useState } from 'react'
import { readOrganisation } from '../../../apply/read-organisation.ts'
import { sitesOnly } from '../../../csv/import-rooms.ts'
import { roomsCsv } from '../../../csv/room-export.ts'
import { documentOf } from '../../../plan/document-of.ts'
import { notifyError } from '../../api.ts'
import { Section } from '../../parts/page/page.tsx'
import { saveCsv } from '../../parts/page/save-file.ts'
import { client, currentSession } from '../../session.ts'
import classes from './import.module.css'

interface DropZoneProps {
  readonly label: string
  readonly onFile: (file: File) => void
  readonly children: ReactNode
}

/** The button is for the keyboard, and for screens without files to drag. */
export function DropZone({ label, onFile, children }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    const [file] = event.dataTransfer.files
    if (file) onFile(file)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a flex container in all browsers
    <div
      role="group"
      aria-label="File"
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      {children}
      {/* The same file can be chosen again after it was corrected, so the input does not keep it. */}
      <FileButton onChange={(file) => file && onFile(file)} accept=".csv,.tsv,.txt,text/csv" key={label}>
        {(props) => <Button {...props}>{label}</Button>}
      </FileButton>
    </div>
  )
}

interface ChooseFileProps {
  readonly refused: { readonly fileName: string; readonly mistakes: readonly string[] } | undefined
  readonly onFile: (file: File) => void
  readonly mayWrite: boolean
}

export function ChooseFile({ refused, onFile, mayWrite }: ChooseFileProps) {
  if (!mayWrite) return <Text>You may not create rooms. Ask an administrator of your organisation.</Text>
  return (
    <>
      {refused && (
        <Card role="alert" bg="var(--rk-panel)">
          <Text fw={600}>{refused.fileName} cannot be imported. Nothing was changed.</Text>
          <List fz="sm" mt="xs">
            {refused.mistakes.map((mistake) => (
              <List.Item key={mistake}>{mistake}</List.Item>
            ))}
          </List>
        </Card>
      )}
      <DropZone label="Choose a file" onFile={onFile}>
        <Text fw={600}>Drop a CSV file here</Text>
        <Text fz="sm" c="dimmed">
          You see what would change before anything is changed.
        </Text>
      </DropZone>
      <Columns />
    </>
  )
}

const columns: readonly (readonly [names: readonly string[], text: string])[] = [
  [['region', 'location', 'room'], 'Names. What does not exist is created.'],
  [['capacity', 'tags', 'profile', 'floor', 'contact'], 'Values of the room. Tags are separated by spaces.'],
  [['timezone'], 'Time zone of the location, such as Europe/Oslo.'],
  [['external_id'], 'Identifier of the room in another system. It finds a room that was renamed.'],
  [['field.…'], 'A field of your own, such as field.cost_centre.'],
]

const Columns = () => (
  <Section title="Columns" actions={<ExportRooms />}>
    <Stack gap="sm">
      <Text fz="sm">
        The first row names the columns, in any order. An empty cell clears a value, and a column that is absent leaves
        it as it is. Rooms that are not in the file stay as they are.
      </Text>
      <dl className={classes.columns}>
        {columns.map(([names, text]) => (
          <div key={text}>
            <dt>
              <Group gap={4}>
                {names.map((name) => (
                  <Code key={name}>{name}</Code>
                ))}
              </Group>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Stack>
  </Section>
)

function ExportRooms() {
  const [isBusy, setIsBusy] = useState(false)
  const save = async () => {
    setIsBusy(true)
    try {
      const document = documentOf(await readOrganisation(client(), sitesOnly(currentSession().org.id)))
      saveCsv(roomsCsv(document), 'rooms.csv')
    } catch (error) {
      notifyError(error, 'Export failed')
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Button variant="default" size="xs" loading={isBusy} onClick={() => void save()}>
      Export the present rooms
    </Button>
  )
}
