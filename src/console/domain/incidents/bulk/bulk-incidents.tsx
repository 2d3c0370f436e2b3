// The buttons for actions on all selected incidents. Each action sends one ordinary request for each incident. [contract 10.states]
import { Button, Modal, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { hourMs } from '../../../../contract/durations.ts'
import { maxOperatorSilenceMs } from '../../../../contract/incidents/limits.ts'
import { useBody } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { client, usePermissions, useSession } from '../../../session.ts'
import { isOpenIncident, type ListedIncident } from '../incident.ts'
import { AssigneeSelect, canWorkOn } from '../work/assignee.tsx'
import { SnoozeChoice, useSnoozeChoice } from '../work/snooze-choice.tsx'
import { type BulkRun, runWithNotice } from './bulk-notice.tsx'
import { placesToSilence } from './silenced-places.ts'

interface BulkIncidentsProps {
  /** The selected incidents. */
  readonly incidents: readonly ListedIncident[]
  /** Called with the incidents that are done. */
  readonly onDone: (incidents: readonly ListedIncident[]) => void
}

type Task = 'assign' | 'snooze' | 'silence'
const names: Readonly<Record<Task, string>> = { assign: 'Assign', snooze: 'Snooze', silence: 'Silence' }

/** The dialog has the incidents as they were when it opened: the list changes while it is open. */
interface OpenTask {
  readonly task: Task
  readonly incidents: readonly ListedIncident[]
}

export function BulkIncidents({ incidents, onDone }: BulkIncidentsProps) {
  const [opened, setOpened] = useState<OpenTask>()
  const open = incidents.filter(isOpenIncident)
  const fresh = open.filter(({ state }) => state === 'OPEN')
  const run = async <T,>(bulk: BulkRun<T>, incidentsOf: (item: T) => readonly ListedIncident[]) => {
    const { done } = await runWithNotice(bulk)
    onDone(done.flatMap(incidentsOf))
  }
  const start = (items: readonly ListedIncident[], outcome: string, send: (id: string) => Promise<unknown>) =>
    void run({ items, nameOf, send: ({ id }) => send(id), noun: 'incident', outcome }, (incident) => [incident])
  const formProps = { incidents: opened?.incidents ?? [], start, onClose: () => setOpened(undefined) }
  return (
    <>
      <BarButton
        isDisabled={fresh.length === 0}
        onClick={() => start(fresh, 'acknowledged', (id) => client().incidentsAcknowledge({ id, body: {} }))}
      >
        Acknowledge
      </BarButton>
      {(Object.keys(names) as Task[]).map((task) => (
        <BarButton key={task} isDisabled={open.length === 0} onClick={() => setOpened({ task, incidents: open })}>
          {names[task]}
        </BarButton>
      ))}
      {opened && (
        <Modal
          opened
          onClose={formProps.onClose}
          title={`${names[opened.task]}: ${plural(opened.incidents.length, 'incident')}`}
        >
          <LoadingBoundary>
            {opened.task === 'assign' && <AssignAll {...formProps} />}
            {opened.task === 'snooze' && <SnoozeAll {...formProps} />}
            {opened.task === 'silence' && (
              <SilenceAll {...formProps} run={(bulk) => void run(bulk, ({ incidents: silenced }) => silenced)} />
            )}
          </LoadingBoundary>
        </Modal>
      )}
    </>
  )
}

const nameOf = ({ title }: ListedIncident) => title

interface BarButtonProps {
  readonly isDisabled: boolean
  readonly onClick: () => void
  readonly children: string
}

const BarButton = ({ isDisabled, onClick, children }: BarButtonProps) => (
  <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} disabled={isDisabled} onClick={onClick}>
    {children}
  </Button>
)

interface FormProps {
  readonly incidents: readonly ListedIncident[]
  readonly start: (items: readonly ListedIncident[], outcome: string, send: (id: string) => Promise<unknown>) => void
  readonly onClose: () => void
}

function AssignAll({ incidents, start, onClose }: FormProps) {
  const { users } = useBody('usersList')
  const ownId = useSession().user?.id
  const people = users.filter((user) => canWorkOn(user, incidents))
  const [userId, setUserId] = useState(people.find(({ id }) => id === ownId)?.id ?? null)
  const submit = () => {
    start(incidents, userId === null ? 'unassigned' : 'assigned', (id) =>
      client().incidentsAssign({ id, body: { userId } }),
    )
    onClose()
  }
  return (
    <DialogForm
      verb={userId === null ? 'Unassign' : 'Assign'}
      canSubmit
      isBusy={false}
      error={undefined}
      onSubmit={submit}
      onCancel={onClose}
    >
      <AssigneeSelect people={people} userId={userId} onChange={setUserId} />
    </DialogForm>
  )
}

function SnoozeAll({ incidents, start, onClose }: FormProps) {
  const choice = useSnoozeChoice()
  const submit = () => {
    const until = choice.until()
    start(incidents, until === null ? 'woken' : 'snoozed', (id) => client().incidentsSnooze({ id, body: { until } }))
    onClose()
  }
  return (
    <DialogForm
      verb="Snooze"
      canSubmit={choice.problem === undefined}
      isBusy={false}
      error={undefined}
      onSubmit={submit}
      onCancel={onClose}
    >
      <Text fz="sm">Hides the incidents from the list of open incidents. Notifications continue.</Text>
      <SnoozeChoice {...choice} isAsleep={false} />
    </DialogForm>
  )
}

const silenceHours = [1, 4, 8, 24, 72, 168] as const
const hoursText = (hours: number) => (hours > 24 ? plural(hours / 24, 'day') : plural(hours, 'hour'))

interface SilenceAllProps extends Omit<FormProps, 'start'> {
  readonly run: (bulk: BulkRun<ReturnType<typeof placesToSilence>[number]>) => void
}

function SilenceAll({ incidents, run, onClose }: SilenceAllProps) {
  const { write } = usePermissions()
  const [hours, setHours] = useState('4')
  const [reason, setReason] = useState('')
  const places = placesToSilence(incidents)
  const left = incidents.length - places.reduce((count, place) => count + place.incidents.length, 0)
  const submit = () => {
    const to = new Date(Date.now() + Number(hours) * hourMs).toISOString()
    run({
      items: places,
      nameOf: (place) => place.incidents[0]?.title ?? '',
      send: ({ place }) => client().silencesCreate({ body: { place, reason: reason.trim(), to } }),
      noun: 'place',
      outcome: 'silenced',
    })
    onClose()
  }
  return (
    <DialogForm
      verb="Silence"
      canSubmit={places.length > 0 && reason.trim() !== ''}
      isBusy={false}
      error={undefined}
      onSubmit={submit}
      onCancel={onClose}
    >
      <Text fz="sm">
        Silences the device, the room or the location of each incident. No incidents open there and no notifications are
        sent; remaining problems open incidents when it ends.
        {left > 0 && ` ${plural(left, 'incident')} in several locations: create a silence under Silences.`}
      </Text>
      <TextInput
        label="Reason"
        placeholder="Planned maintenance"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={500}
        autoComplete="off"
        data-autofocus
      />
      <Select
        label="Duration"
        data={silenceHours
          .filter((value) => write || value * hourMs <= maxOperatorSilenceMs)
          .map((value) => ({ value: String(value), label: hoursText(value) }))}
        value={hours}
        onChange={(value) => value && setHours(value)}
        allowDeselect={false}
      />
    </DialogForm>
  )
}
