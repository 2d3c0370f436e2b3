// Reads the plan of a job that does not exist yet, and shows it in words: what happens now, what waits, what is skipped and why, and the values that devices have now. [contract 12.plan]
import { List, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { settingName } from '../../../contract/device/setting-names.ts'
import { jobActions, waitsForIdleByDefault } from '../../../contract/jobs/action-table.ts'
import { operationQuery } from '../../api.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { ErrorPanel } from '../../parts/page/page.tsx'
import { Loading } from '../../parts/page/skeleton.tsx'
import { valueText } from '../../parts/settings-form/setting-values.ts'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { type Definition, DefinitionList } from '../../parts/text/definition-list.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { deviceName } from '../fleet/device/device.ts'
import { useDeviceClause } from './action-name.ts'
import { type JobDraft, type Plan, planQuery } from './job.ts'
import { becauseText, disconnectedTexts, outcomeTexts, presentText } from './job-texts.ts'

/** The name is not part of what is planned, so typing it asks for no new plan. */
export const usePlan = (draft: JobDraft) =>
  useQuery({ ...planQuery({ ...draft, name: 'Plan' }), refetchOnMount: 'always', retry: false })

interface PlanPanelProps {
  readonly plan: ReturnType<typeof usePlan>
  readonly draft: JobDraft
  readonly isRecurring?: boolean
}

export function PlanPanel({ plan: { data, error, refetch }, draft, isRecurring = false }: PlanPanelProps) {
  if (data) return <PlanSummary plan={data.body} draft={draft} isRecurring={isRecurring} />
  return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Loading />
}

interface PlanSummaryProps {
  readonly plan: Plan
  /** The request that the plan answers. */
  readonly draft: JobDraft
}

function PlanSummary({ plan, draft, isRecurring }: OutcomesProps) {
  return (
    <Stack gap="sm">
      <Text fw={600} role="status">
        {plural(plan.endpointCount, 'device')} in {plural(plan.unitCount, 'room')}
      </Text>
      <Outcomes plan={plan} draft={draft} isRecurring={isRecurring} />
      <PresentValues plan={plan} draft={draft} />
      <Remarks plan={plan} draft={draft} />
      <Stages plan={plan} draft={draft} />
      <Conflicts plan={plan} draft={draft} />
      <PlannedRooms plan={plan} />
    </Stack>
  )
}

interface OutcomesProps extends PlanSummaryProps {
  readonly isRecurring: boolean
}

function Outcomes({ plan, draft, isRecurring }: OutcomesProps) {
  const deviceClause = useDeviceClause(draft.action)
  const texts = outcomeTexts(plan.outcomes, {
    ...jobActions[draft.action.type].texts,
    deviceClause,
    isScheduled: draft.startAt !== undefined && draft.startAt !== null,
    isRecurring,
  })
  return (
    <List fz="sm" aria-label="What happens">
      {texts.map((text) => (
        <List.Item key={text}>{text}</List.Item>
      ))}
    </List>
  )
}

/** "5 minutes on 21, 10 minutes on 6, not set on 3", for each setting of the job. */
function PresentValues({ plan, draft }: PlanSummaryProps) {
  const config = draft.action.config ?? {}
  const definitions = Object.keys(config).map((key): Definition => {
    const next = config[key as keyof typeof config]
    return [
      settingName(key),
      <span key={key}>
        <b>{next === null || next === undefined ? 'Not set' : valueText(key, next)}</b>
        {plan.present[key] && (
          <Text span fz="sm" c="dimmed">
            {' '}
            (now: {presentText(key, plan.present[key])})
          </Text>
        )}
      </span>,
    ]
  })
  return definitions.length === 0 ? null : <DefinitionList definitions={definitions} />
}

function Remarks({ plan, draft }: PlanSummaryProps) {
  const { connection, isDeferred, texts } = jobActions[draft.action.type]
  const remarks = [
    plan.unableCount > 0 &&
      `${plural(plan.unableCount, 'device')} cannot do this and ${plan.unableCount === 1 ? 'is' : 'are'} left out.`,
    plan.emptyRoomCount > 0 &&
      `${plural(plan.emptyRoomCount, 'room')} ${plan.emptyRoomCount === 1 ? 'has' : 'have'} no devices, so nothing changes there${texts.emptyRooms}.`,
    plan.offlineCount > 0 &&
      `${plural(plan.offlineCount, 'device')} ${plan.offlineCount === 1 ? 'is' : 'are'} not connected.${disconnectedTexts[connection]}`,
    plan.unchangedCount > 0 &&
      `${plural(plan.unchangedCount, 'device')} ${texts.unchanged[plan.unchangedCount === 1 ? 0 : 1]}.`,
    waitsForIdle(draft) &&
      plan.blindCount > 0 &&
      `${plural(plan.blindCount, 'room')} cannot tell whether people are in ${plan.blindCount === 1 ? 'it' : 'them'}, and ${plan.blindCount === 1 ? 'counts' : 'count'} as empty.`,
    isDeferred &&
      waitsForIdle(draft) &&
      plan.notSupportingCount > 0 &&
      `${plural(plan.notSupportingCount, 'device')} cannot check for a call right before the restart.`,
  ].filter((text) => text !== false)
  return remarks.map((text) => (
    <Text key={text} fz="sm">
      {text}
    </Text>
  ))
}

const waitsForIdle = ({ action, stages, respect }: JobDraft): boolean =>
  respect?.idle ?? waitsForIdleByDefault(action, stages !== undefined)

function Stages({ plan, draft }: PlanSummaryProps) {
  if (draft.stages === undefined) return null
  const texts = plan.stages.map(
    ({ unitCount, manual }, index) =>
      `Stage ${index + 1}: ${plural(unitCount, 'room')}${manual ? ', after your approval' : ''}`,
  )
  return (
    <div>
      <List fz="sm" aria-label="Stages">
        {texts.map((text) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
      <Text fz="sm" c="dimmed">
        Earliest end: <DateTime at={plan.earliestEnd} />
      </Text>
    </div>
  )
}

const maxConflictsShown = 5

function Conflicts({ plan, draft }: PlanSummaryProps) {
  const hasConflicts = plan.conflictCount > 0
  const devices = useQuery({ ...operationQuery('endpointsBasicList'), enabled: hasConflicts }).data?.body.endpoints
  const profiles = useQuery({ ...operationQuery('profilesList'), enabled: hasConflicts }).data?.body.profiles
  if (!hasConflicts) return null
  const shown = plan.conflicts.slice(0, maxConflictsShown)
  const rest = plan.conflictCount - shown.length
  const nameOf = (id: string) => {
    const device = devices?.find((one) => one.id === id)
    return device ? deviceName(device) : 'Device'
  }
  return (
    <div role="note">
      <Text fz="sm" fw={600} c="var(--rk-degraded)">
        {plural(plan.conflictCount, 'device')} {plan.conflictCount === 1 ? 'has' : 'have'} a profile that locks these
        settings.{' '}
        {draft.skipConflicts ? 'Their rooms are skipped.' : 'Skip their rooms, or change the profile instead.'}
      </Text>
      <List fz="sm">
        {shown.map(({ endpointId, profileId, keys }) => (
          <List.Item key={endpointId}>
            {nameOf(endpointId)}: {keys.map(settingName).join(', ')} (
            {profiles?.find(({ id }) => id === profileId)?.name ?? 'profile'})
          </List.Item>
        ))}
        {rest > 0 && <List.Item>and {plural(rest, 'more device')}</List.Item>}
      </List>
    </div>
  )
}

function PlannedRooms({ plan: { rooms, unitCount, stages } }: { readonly plan: Plan }): ReactNode {
  const [isOpen, { toggle }] = useDisclosure(false)
  // Units without a room have no id.
  const rows = useMemo(() => rooms.map((room, number) => ({ ...room, number })), [rooms])
  return (
    <div>
      <DisclosureButton isOpen={isOpen} onClick={toggle}>
        {rooms.length < unitCount ? `First ${plural(rooms.length, 'room')}` : 'Rooms'}
      </DisclosureButton>
      {isOpen && (
        <DataTable
          label="Planned rooms"
          rows={rows}
          columns={stages.length > 1 ? columns : columns.filter(({ id }) => id !== 'stage')}
          keyOf={({ number }) => number}
          minWidthPx={300}
          maxHeightPx={280}
        />
      )}
    </div>
  )
}

const outcomeNames: Readonly<Record<Plan['rooms'][number]['outcome'], string>> = {
  now: 'Now',
  later: 'Later',
  waits: 'Waiting',
  skipped: 'Skipped',
  unchanged: 'Unchanged',
}

type PlannedRoom = Plan['rooms'][number] & { readonly number: number }
const happensText = ({ outcome, reason }: PlannedRoom) => `${outcomeNames[outcome]}${becauseText(reason)}`

const columns: readonly Column<PlannedRoom>[] = [
  { id: 'room', title: 'Room', sortValue: ({ name }) => name.toLowerCase(), cell: ({ name }) => name },
  { id: 'stage', title: 'Stage', sortValue: ({ stage }) => stage, cell: ({ stage }) => stage },
  {
    id: 'devices',
    title: 'Devices',
    sortValue: ({ endpointCount }) => endpointCount,
    cell: ({ endpointCount }) => endpointCount,
  },
  { id: 'outcome', title: 'What happens', sortValue: happensText, cell: happensText },
]
