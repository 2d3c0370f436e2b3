// The form of a channel: where messages go, which ones, about which sites and when. [contract 10.channel]

import { Checkbox, MultiSelect, NumberInput, Select, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type ChannelKind, channelKinds } from '../../../../contract/channels/channels.ts'
import type { ChannelEvent } from '../../../../contract/channels/messages.ts'
import { maxHeartbeatMinutes } from '../../../../contract/incidents/limits.ts'
import type { RuleId } from '../../../../contract/incidents/rule-table.ts'
import { locationLabel, useSites } from '../../../domain/fleet/site/sites.ts'
import { ruleChoices } from '../../../domain/incidents/rule-choices.ts'
import { severityChoices } from '../../../domain/incidents/severity-label.tsx'
import { WeeklyField } from '../../../domain/incidents/silence/weekly-field.tsx'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { eventChoices, kindNames } from './channel.ts'
import { addressesProblem, type ChannelDraft, isChannelComplete, withKind } from './channel-draft.ts'

interface ChannelFormProps {
  readonly verb: string
  readonly initial: ChannelDraft
  /** The masked address of a stored channel; undefined for a new one. */
  readonly storedTarget?: string | undefined
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (draft: ChannelDraft) => void
  readonly onClose: () => void
  readonly onReload?: () => void
}

const workingHours = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' } as const
const below = ['label', 'input', 'description', 'error'] as const

export function ChannelForm(props: ChannelFormProps) {
  const { verb, initial, storedTarget, isBusy, error, onSubmit, onClose, onReload } = props
  const [draft, setDraft] = useState(initial)
  const { regions, locations } = useSites()
  const set = (changes: Partial<ChannelDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const isStored = storedTarget !== undefined
  return (
    <DialogForm
      verb={verb}
      canSubmit={isChannelComplete(draft, isStored)}
      isBusy={isBusy}
      error={error}
      onSubmit={() => onSubmit(draft)}
      onCancel={onClose}
      {...(onReload && { onReload })}
    >
      <TextInput
        label="Name"
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        maxLength={100}
        autoComplete="off"
        data-autofocus
      />
      {!isStored && (
        <Select
          label="Kind"
          data={channelKinds.map((value) => ({ value, label: kindNames[value] }))}
          value={draft.kind}
          onChange={(kind) => kind && setDraft((before) => withKind(before, kind))}
          allowDeselect={false}
        />
      )}
      <TargetField draft={draft} set={set} storedTarget={storedTarget} />
      {draft.kind === 'people' ? (
        <Text fz="sm">
          When an incident is assigned to a person by another person or a key, the assignee gets an e-mail.
        </Text>
      ) : (
        <MultiSelect
          label="Messages"
          data={eventChoices(draft.kind)}
          value={[...draft.events]}
          onChange={(events) => set({ events: events as ChannelEvent[] })}
          description={draft.events.length === 0 ? 'Only tests and heartbeats are sent.' : undefined}
          inputWrapperOrder={[...below]}
          searchable
          maxDropdownHeight={240}
          nothingFoundMessage="No matches"
        />
      )}
      <Select
        label="Minimum severity"
        data={severityChoices}
        value={draft.minSeverity}
        onChange={(minSeverity) => minSeverity && set({ minSeverity })}
        allowDeselect={false}
      />
      <MultiSelect
        label="Incident rules"
        placeholder={draft.rules.length === 0 ? 'All rules' : ''}
        data={ruleChoices}
        value={[...draft.rules]}
        onChange={(rules) => set({ rules: rules as RuleId[] })}
        searchable
        maxDropdownHeight={240}
        nothingFoundMessage="No matches"
      />
      <MultiSelect
        label="Regions"
        placeholder={draft.regionIds.length === 0 ? 'All regions' : ''}
        data={regions.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={draft.regionIds.map(String)}
        onChange={(ids) => set({ regionIds: ids.map(Number) })}
        searchable
        nothingFoundMessage="No matches"
      />
      <MultiSelect
        label="Locations"
        placeholder={draft.locationIds.length === 0 ? 'All locations' : ''}
        data={locations.map((one) => ({ value: String(one.id), label: locationLabel(one) }))}
        value={draft.locationIds.map(String)}
        onChange={(ids) => set({ locationIds: ids.map(Number) })}
        searchable
        limit={300}
        nothingFoundMessage="No matches"
      />
      <Checkbox
        label="Only during these hours"
        description="In the time zone of the incident. Critical incidents are always sent."
        checked={draft.hours !== undefined}
        onChange={(event) =>
          set({ hours: event.currentTarget.checked ? { ...workingHours, days: [...workingHours.days] } : undefined })
        }
      />
      {draft.hours && <WeeklyField label="Days" value={draft.hours} onChange={(hours) => set({ hours })} />}
      {draft.kind !== 'people' && (
        <NumberInput
          label="Heartbeat every (minutes)"
          description="Optional. A monitoring system can raise an alarm when heartbeats stop."
          value={draft.heartbeatMinutes}
          onChange={(value) => set({ heartbeatMinutes: typeof value === 'number' ? value : '' })}
          min={1}
          max={maxHeartbeatMinutes}
          allowDecimal={false}
          hideControls
          inputWrapperOrder={[...below]}
        />
      )}
    </DialogForm>
  )
}

interface TargetFieldProps {
  readonly draft: ChannelDraft
  readonly set: (changes: Partial<ChannelDraft>) => void
  readonly storedTarget: string | undefined
}

const urlTexts: Readonly<Record<Exclude<ChannelKind, 'email' | 'people'>, { label: string; description: string }>> = {
  webhook: { label: 'URL', description: 'Messages follow Standard Webhooks and are signed.' },
  teams: {
    label: 'Workflow URL',
    description: 'The address of a Teams workflow that is started by a webhook request.',
  },
  slack: { label: 'Webhook URL', description: 'The address of an incoming webhook of a Slack app.' },
  pagerduty: { label: 'Integration key', description: 'The key of an Events API v2 integration.' },
}

function TargetField({ draft, set, storedTarget }: TargetFieldProps) {
  if (draft.kind === 'people') return undefined
  if (draft.kind === 'email') {
    return (
      <Textarea
        label="E-mail addresses"
        description="One per line, up to 30."
        value={draft.addresses}
        error={addressesProblem(draft.addresses)}
        onChange={(event) => set({ addresses: event.currentTarget.value })}
        inputWrapperOrder={[...below]}
        autosize
        minRows={2}
        maxRows={8}
      />
    )
  }
  const { label, description } = urlTexts[draft.kind]
  return (
    <TextInput
      label={label}
      description={storedTarget === undefined ? description : 'Leave empty to keep the current one.'}
      placeholder={storedTarget ?? (draft.kind === 'pagerduty' ? '' : 'https://')}
      value={draft.secret}
      onChange={(event) => set({ secret: event.currentTarget.value })}
      inputWrapperOrder={[...below]}
      maxLength={2000}
      autoComplete="off"
      spellCheck={false}
    />
  )
}
