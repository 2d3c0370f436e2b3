// The plan of a source: which regions, locations, rooms and profiles would be made, changed or linked here. Nothing is applied until a person says so. [contract 15.links]
import { Button, Card, Checkbox, Group, List, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { applySourcePlan, type SourceRowResult } from '../../../../apply/apply-source-plan.ts'
import { readOrganisation } from '../../../../apply/read-organisation.ts'
import { type Waiting, waitingFetch } from '../../../../client/waiting-fetch.ts'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { chosenSteps, planSource, type SourcePlan } from '../../../../plan/source/source-plan.ts'
import { endSessionIfUnauthorized, errorMessage, operationQuery, queryClient } from '../../../api.ts'
import { EmptyState, ErrorText } from '../../../parts/page/page.tsx'
import { Loading } from '../../../parts/page/skeleton.tsx'
import { markForm } from '../../../parts/recovery/unsaved-input.ts'
import { useRowSelection } from '../../../parts/table/row-selection.ts'
import { Notice } from '../../../parts/text/notice.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { plural } from '../../../parts/text/words.ts'
import { clientThrough, currentSession } from '../../../session.ts'
import { PlanTable } from './plan-table.tsx'

type Phase =
  | { readonly name: 'reading' }
  | { readonly name: 'failed'; readonly error: unknown }
  | PlannedPhase
  | { readonly name: 'running'; readonly done: number; readonly all: number; readonly waitSeconds?: number }

interface PlannedPhase {
  readonly name: 'planned'
  readonly readAt: string | undefined
  readonly planned: SourcePlan
}

export function PlanTab({ source }: { readonly source: Source }) {
  const [phase, setPhase] = useState<Phase>({ name: 'reading' })
  const [results, setResults] = useState<readonly SourceRowResult[]>()
  const stop = useRef<AbortController>(undefined)
  const { id } = source

  const onWait = useCallback(
    ({ seconds }: Waiting) =>
      setPhase((before) => (before.name === 'running' ? { ...before, waitSeconds: seconds } : before)),
    [],
  )
  /** The server limits how many requests a caller sends, and a plan has many. */
  const patientClient = useCallback(
    (stop: AbortSignal) => clientThrough((send) => waitingFetch(onWait, send, stop)),
    [onWait],
  )

  const read = useCallback(async () => {
    stop.current = new AbortController()
    const { signal } = stop.current
    setPhase({ name: 'reading' })
    try {
      const client = patientClient(signal)
      const sections = { organisation: currentSession().org.id, regions: [], locations: [], rooms: [], profiles: [] }
      const [{ body: structure }, snapshot] = await Promise.all([
        client.sourcesStructure({ id }, { signal }),
        readOrganisation(client, sections, { signal }),
      ])
      setPhase({ name: 'planned', readAt: structure.readAt, planned: planSource(structure, snapshot) })
    } catch (error) {
      if (signal.aborted) return
      endSessionIfUnauthorized(error)
      setPhase({ name: 'failed', error })
    }
  }, [id, patientClient])
  useEffect(() => {
    void read()
    return () => stop.current?.abort()
  }, [read])

  // The first structure can arrive while the tab is open.
  const { data: structure } = useQuery(operationQuery('sourcesStructure', { id }))
  const isFirst = phase.name === 'planned' && phase.readAt === undefined && structure?.body.readAt !== undefined
  useEffect(() => {
    if (isFirst) void read()
  }, [isFirst, read])

  // A reload would stop the work, so the console does not reload by itself at that time.
  useEffect(() => {
    const form = {}
    markForm(form, phase.name === 'running')
    return () => markForm(form, false)
  }, [phase.name])

  const apply = async (planned: SourcePlan, chosen: ReadonlySet<string | number>) => {
    stop.current = new AbortController()
    const { signal } = stop.current
    const isChosen = ({ pointer }: { readonly pointer: string }) => chosen.has(pointer)
    const all = chosenSteps(planned, isChosen).steps.length
    const onProgress = (done: number) => setPhase({ name: 'running', done, all })
    onProgress(0)
    try {
      setResults(await applySourcePlan(patientClient(signal), id, planned, { isChosen, signal, onProgress }))
    } catch (error) {
      endSessionIfUnauthorized(error)
      setPhase({ name: 'failed', error })
      return
    } finally {
      void queryClient.invalidateQueries()
    }
    await read()
  }

  switch (phase.name) {
    case 'reading':
      return <Loading />
    case 'failed':
      return (
        <Card role="alert" bg="var(--rk-panel)">
          <Stack align="flex-start">
            <Text>{errorMessage(phase.error)}</Text>
            <Button size="xs" variant="default" onClick={() => void read()}>
              Read the plan again
            </Button>
          </Stack>
        </Card>
      )
    case 'running':
      return (
        <Card bg="var(--rk-panel)">
          <Stack>
            <Text role="status">
              Changing the organisation: {phase.done.toLocaleString('en-GB')} of {phase.all.toLocaleString('en-GB')}
              {phase.waitSeconds !== undefined && `. The server asks to wait ${phase.waitSeconds} s.`}
            </Text>
            <Progress value={phase.all > 0 ? (100 * phase.done) / phase.all : 100} aria-label="Progress" />
            <Group justify="flex-end">
              <Button variant="default" onClick={() => stop.current?.abort()}>
                Stop
              </Button>
            </Group>
          </Stack>
        </Card>
      )
    case 'planned':
      return (
        <Stack gap="sm">
          {results && <Results results={results} onClose={() => setResults(undefined)} />}
          <Planned
            key={phase.readAt}
            {...phase}
            source={source}
            onRead={() => void read()}
            onApply={(chosen) => void apply(phase.planned, chosen)}
          />
        </Stack>
      )
  }
}

interface PlannedProps extends PlannedPhase {
  readonly source: Source
  readonly onRead: () => void
  readonly onApply: (chosen: ReadonlySet<string | number>) => void
}

function Planned({ source, readAt, planned, onRead, onApply }: PlannedProps) {
  const { rows, leftOut, equalCount, plan } = planned
  const [allowRollout, setAllowRollout] = useState(false)
  const pointers = useMemo(() => rows.map(({ pointer }) => pointer), [rows])
  const selection = useRowSelection(`plan of ${readAt}`, pointers)
  const chosen: ReadonlySet<string | number> = selection.keys.size > 0 ? selection.keys : new Set(pointers)
  const { steps } = chosenSteps(planned, ({ pointer }) => chosen.has(pointer))
  const deviceCount = steps.reduce((sum, step) => sum + (step.needs === 'rollout' ? (step.endpointCount ?? 0) : 0), 0)
  if (readAt === undefined) {
    return (
      <EmptyState title="The gateway has not read the rooms of the source yet">
        <Button size="xs" variant="default" mt="xs" onClick={onRead}>
          Look again
        </Button>
      </EmptyState>
    )
  }
  const verb =
    selection.keys.size > 0
      ? `Apply ${plural(rows.filter((row) => chosen.has(row.pointer)).length, 'selected row')}`
      : 'Apply all'
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <Text fz="sm" role="status" flex={1} miw={220}>
          {rows.length === 0
            ? `Nothing differs. ${plural(equalCount, 'thing')} of ${source.name} ${equalCount === 1 ? 'is' : 'are'} linked.`
            : `${plural(rows.length, 'difference')}. Nothing has been changed yet, and nothing is changed at ${source.name}.`}{' '}
          Read <DateTime at={readAt} />.
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={onRead}>
            Look again
          </Button>
          {rows.length > 0 && (
            <Button
              size="xs"
              disabled={plan.problems.length > 0 || (deviceCount > 0 && !allowRollout)}
              onClick={() => onApply(chosen)}
            >
              {verb}
            </Button>
          )}
        </Group>
      </Group>
      {deviceCount > 0 && (
        <Checkbox
          checked={allowRollout}
          onChange={(event) => setAllowRollout(event.currentTarget.checked)}
          label={`Change the settings of ${plural(deviceCount, 'device')} too: their profile changes, or their rooms get another one.`}
        />
      )}
      {plan.problems.map(({ message }) => (
        <ErrorText key={message} error={new Error(message)} />
      ))}
      {leftOut.length > 0 && (
        <Notice tone="warning" title={`${plural(leftOut.length, 'thing')} left out`}>
          <List fz="sm">
            {leftOut.slice(0, maxLeftOut).map(({ kind, theirId, name, reason }) => (
              <List.Item key={`${kind} ${theirId}`}>
                {kind} {name || theirId}: {reason}
              </List.Item>
            ))}
          </List>
          {leftOut.length > maxLeftOut && <Text fz="sm">And {leftOut.length - maxLeftOut} more.</Text>}
        </Notice>
      )}
      {rows.length > 0 && <PlanTable rows={rows} selection={selection} />}
    </Stack>
  )
}

const maxLeftOut = 20

interface ResultsProps {
  readonly results: readonly SourceRowResult[]
  readonly onClose: () => void
}

function Results({ results, onClose }: ResultsProps) {
  const done = results.filter(({ state }) => state === 'done').length
  const others = results.filter(({ state }) => state !== 'done')
  return (
    <Notice
      tone={others.length > 0 ? 'danger' : 'calm'}
      role={others.length > 0 ? 'alert' : 'status'}
      title={
        others.length > 0 ? `${done} of ${plural(results.length, 'row')} applied` : `${plural(done, 'row')} applied`
      }
      onClose={onClose}
    >
      {others.length === 0 ? (
        'Devices whose rooms are linked can now go into them: see Devices.'
      ) : (
        <List fz="sm">
          {others.slice(0, maxLeftOut).map(({ row, reason }) => (
            <List.Item key={row.pointer}>
              {row.path.join(' / ')}: {reason}
            </List.Item>
          ))}
        </List>
      )}
    </Notice>
  )
}
