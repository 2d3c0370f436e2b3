// Sets an incident aside for a time, or until its cause ends. [contract 10.states]

import { Text } from '@mantine/core'
import { useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { isSnoozed, snoozeText } from '../incident.ts'
import type { IncidentFormProps } from './incident-tasks.ts'
import { SnoozeChoice, useSnoozeChoice } from './snooze-choice.tsx'

export function SnoozeForm({ incident, onClose }: IncidentFormProps) {
  const chosen = useSnoozeChoice()
  const isWaking = chosen.choice === 'wake'
  const isAsleep = isSnoozed(incident, Date.now())
  const snooze = useWrite('incidentsSnooze', {
    quiet: true,
    successText: () => (isWaking ? 'Snooze ended' : 'Incident snoozed'),
    onDone: onClose,
  })
  return (
    <DialogForm
      verb={isWaking ? 'End snooze' : 'Snooze'}
      canSubmit={chosen.problem === undefined}
      isBusy={snooze.isPending}
      error={snooze.error}
      onSubmit={() => snooze.mutate({ input: { id: incident.id, body: { until: chosen.until() } } })}
      onCancel={onClose}
    >
      <Text fz="sm">
        Hides <b>{incident.title}</b> from the list of open incidents. Notifications continue.
        {isAsleep && incident.snoozedUntil && ` Snoozed ${snoozeText(incident.snoozedUntil)}.`}
      </Text>
      <SnoozeChoice {...chosen} isAsleep={isAsleep} />
    </DialogForm>
  )
}
