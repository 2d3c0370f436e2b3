// The dialog that sets the change window and the time zone of many locations: choose, watch the progress, see the result.
import { Button, Group, List, Modal, Progress, Radio, Stack, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { queryClient } from '../../../api.ts'
import { weeklyText } from '../../../domain/incidents/silence/silence.ts'
import { isWeeklyHours, WeeklyField } from '../../../domain/incidents/silence/weekly-field.tsx'
import { ZoneSelect } from '../../../parts/page/zone-select.tsx'
import { plural } from '../../../parts/text/words.ts'
import { useSession } from '../../../session.ts'
import { proposedWindow } from '../proposed-window.ts'
import type { LocationNode } from '../site-tree.ts'
import {
  changeSites,
  type LocationChoice,
  type SiteChange,
  type SiteResult,
  siteChanges,
  takenBack,
} from './location-changes.ts'

interface ChangeSitesProps {
  /** The locations as they were when the dialog opened. */
  readonly locations: readonly LocationNode[]
  readonly onClose: () => void
}

type Step =
  | { readonly is: 'choosing' }
  | { readonly is: 'running'; readonly done: number; readonly all: number }
  | { readonly is: 'done'; readonly result: SiteResult; readonly isUndone: boolean }

export function ChangeSites({ locations, onClose }: ChangeSitesProps) {
  const [step, setStep] = useState<Step>({ is: 'choosing' })
  const stop = useRef<AbortController>(undefined)
  const run = async (changes: readonly SiteChange[], isUndone = false) => {
    stop.current = new AbortController()
    const onProgress = (done: number) => setStep({ is: 'running', done, all: changes.length })
    onProgress(0)
    const result = await changeSites(changes, { onProgress, signal: stop.current.signal })
    setStep({ is: 'done', result, isUndone })
    await queryClient.invalidateQueries()
  }
  return (
    <Modal
      opened
      // A dialog that closed would hide the progress, and what failed.
      onClose={() => step.is !== 'running' && onClose()}
      withCloseButton={step.is !== 'running'}
      title={`Change window and time zone: ${plural(locations.length, 'location')}`}
      size="lg"
    >
      {step.is === 'choosing' && (
        <ChoiceForm locations={locations} onCancel={onClose} onSubmit={(changes) => void run(changes)} />
      )}
      {step.is === 'running' && <RunningStep {...step} onStop={() => stop.current?.abort()} />}
      {step.is === 'done' && (
        <ResultStep
          {...step}
          onRetry={(changes) => void run(changes, step.isUndone)}
          onUndo={(changes) => void run(takenBack(changes), true)}
          onClose={onClose}
        />
      )}
    </Modal>
  )
}

type Which = 'keep' | 'set' | 'none'

interface ChoiceFormProps {
  readonly locations: readonly LocationNode[]
  readonly onCancel: () => void
  readonly onSubmit: (changes: readonly SiteChange[]) => void
}

function ChoiceForm({ locations, onCancel, onSubmit }: ChoiceFormProps) {
  const { org } = useSession()
  const [windowChoice, setWindowChoice] = useState<Which>('keep')
  const [hours, setHours] = useState<WeeklyHours>(
    () => locations.find(({ changeWindow }) => changeWindow)?.changeWindow ?? proposedWindow,
  )
  const [zoneChoice, setZoneChoice] = useState<Which>('keep')
  const [zone, setZone] = useState<string | null>(null)
  const choice: LocationChoice = {
    ...(windowChoice !== 'keep' && { changeWindow: windowChoice === 'set' ? hours : null }),
    ...(zoneChoice !== 'keep' && { timezone: zoneChoice === 'set' ? zone : null }),
  }
  const isValid = (windowChoice !== 'set' || isWeeklyHours(hours)) && (zoneChoice !== 'set' || zone !== null)
  const changes = isValid ? siteChanges(locations, choice) : []
  const isChosen = windowChoice !== 'keep' || zoneChoice !== 'keep'
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (changes.length > 0) onSubmit(changes)
      }}
    >
      <Stack>
        <Radio.Group
          label="Change window"
          description="Scheduled changes run only at these times."
          value={windowChoice}
          onChange={(value) => setWindowChoice(value as Which)}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="keep" label={keptText(locations, windowsOf)} data-autofocus />
            <Radio value="set" label="Set one for all" />
            <Radio value="none" label="Remove: changes run at any time" />
          </Stack>
        </Radio.Group>
        {windowChoice === 'set' && <WeeklyField label="Begins on" value={hours} onChange={setHours} />}
        <Radio.Group label="Time zone" value={zoneChoice} onChange={(value) => setZoneChoice(value as Which)}>
          <Stack gap="xs" mt="xs">
            <Radio value="keep" label={keptText(locations, ({ timezone }) => timezone)} />
            <Radio value="set" label="Set one for all" />
            <Radio value="none" label={`Remove: ${org.timezone}, as the organisation`} />
          </Stack>
        </Radio.Group>
        {zoneChoice === 'set' && (
          <ZoneSelect label="Time zone for all" value={zone} onChange={setZone} maxDropdownHeight={260} />
        )}
        <Text fz="sm" role="status">
          {isChosen && isValid && summaryText(changes.length, locations.length)}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" disabled={changes.length === 0}>
            {changes.length === 0 ? 'Change locations' : `Change ${plural(changes.length, 'location')}`}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const windowsOf = ({ changeWindow }: LocationNode) => changeWindow && weeklyText(changeWindow)

/** "Keep: 3 of 12 have one", or the value that all of them have. */
function keptText(locations: readonly LocationNode[], of: (location: LocationNode) => string | undefined): string {
  const values = locations.map(of)
  const count = values.filter((value) => value !== undefined).length
  if (count === 0) return 'Keep (none is set)'
  return new Set(values).size === 1 ? `Keep (${values[0]})` : `Keep (${count} of ${locations.length} have one)`
}

const summaryText = (changing: number, all: number): string =>
  changing === all
    ? `${plural(changing, 'location changes', 'locations change')}.`
    : `${plural(changing, 'location changes', 'locations change')}; ${plural(all - changing, 'location has', 'locations have')} these values already.`

interface RunningStepProps {
  readonly done: number
  readonly all: number
  readonly onStop: () => void
}

const RunningStep = ({ done, all, onStop }: RunningStepProps) => (
  <Stack>
    <Text role="status">
      {done} of {plural(all, 'location')}
    </Text>
    <Progress value={(100 * done) / all} aria-label="Locations changed" />
    <Group justify="flex-end">
      <Button variant="default" onClick={onStop}>
        Stop
      </Button>
    </Group>
  </Stack>
)

interface ResultStepProps {
  readonly result: SiteResult
  readonly isUndone: boolean
  readonly onRetry: (changes: readonly SiteChange[]) => void
  readonly onUndo: (changes: readonly SiteChange[]) => void
  readonly onClose: () => void
}

function ResultStep({ result: { changed, failed, left }, isUndone, onRetry, onUndo, onClose }: ResultStepProps) {
  const remaining = [...failed.map(({ change }) => change), ...left]
  return (
    <Stack>
      <Text role="status" fw={600}>
        {plural(changed.length, 'location')} {isUndone ? 'changed back' : 'changed'}
      </Text>
      {failed.length > 0 && (
        <>
          <Text c="var(--rk-offline)">{plural(failed.length, 'location was', 'locations were')} not changed:</Text>
          <List fz="sm" mah={240} style={{ overflowY: 'auto', overflowWrap: 'anywhere' }}>
            {failed.map(({ change: { id, name }, reason }) => (
              <List.Item key={id}>
                <b>{name}</b>: {reason}
              </List.Item>
            ))}
          </List>
        </>
      )}
      {left.length > 0 && (
        <Text>Stopped: {plural(left.length, 'location was', 'locations were')} left as they were.</Text>
      )}
      <Group justify="flex-end" gap="xs">
        {changed.length > 0 && !isUndone && (
          <Button variant="default" onClick={() => onUndo(changed)}>
            Undo
          </Button>
        )}
        {remaining.length > 0 && (
          <Button variant="default" onClick={() => onRetry(remaining)}>
            Try {plural(remaining.length, 'location')} again
          </Button>
        )}
        <Button onClick={onClose} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
