// Shows when a device, or the devices of a room, were online in the last 7 days, as a strip for each device or as a table.
import { Button, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import { dayMs } from '../../../../contract/durations.ts'
import { ErrorPanel, Section } from '../../../parts/page/page.tsx'
import { zonedTime } from '../../../parts/text/time.tsx'
import { client } from '../../../session.ts'
import { type DeviceDetails, deviceName } from '../device/device.ts'
import type { Restarts } from '../device/restarts.ts'
import { ConnectionStrip, StripTimes } from './connection-strip.tsx'
import { ConnectionTable } from './connection-table.tsx'
import classes from './connections.module.css'
import {
  type ConnectionSummary,
  minStripMs,
  type ShownGap,
  type ShownSpan,
  type StripWindow,
  stripParts,
  stripStartMs,
  summaryText,
} from './strip.ts'
import { useStripHistory } from './strip-marks.ts'

const windowMs = 7 * dayMs

/** The window ends at the time of the read, so an outage that lasts grows only by reading again. */
const refetchMs = 60_000

interface ConnectionsAnswer {
  readonly endpoints: readonly ConnectionSummary[]
  readonly spans: readonly ShownSpan[]
  readonly gaps: readonly ShownGap[]
}

/** A room has the devices that are in it now. */
export type ConnectionsOf = { readonly roomId: number } | { readonly endpointId: string }

/** The key names the operation, so an event invalidates the query. */
const connectionsQuery = (of: ConnectionsOf) =>
  queryOptions({
    queryKey:
      'roomId' in of ? ['roomsConnections', { id: of.roomId }] : ['endpointsConnections', { id: of.endpointId }],
    queryFn: async ({ signal }): Promise<ConnectionsAnswer & { readonly fromMs: number; readonly toMs: number }> => {
      const toMs = Date.now()
      const fromMs = toMs - windowMs
      if ('roomId' in of) {
        const { body } = await client().roomsConnections({ id: of.roomId, from: fromMs }, { signal })
        return { ...body, fromMs, toMs }
      }
      const { body } = await client().endpointsConnections({ id: of.endpointId, from: fromMs }, { signal })
      return { endpoints: [body], spans: body.spans, gaps: body.gaps, fromMs, toMs }
    },
    refetchInterval: refetchMs,
  })

interface ConnectionsSectionProps {
  readonly of: ConnectionsOf
  /** In the order in which the page lists them. */
  readonly devices: readonly DeviceDetails[]
  /** The room whose notes are marks. */
  readonly roomId: number | undefined
  readonly zone: string
  readonly restarts: Restarts
}

export function ConnectionsSection({ of, devices: endpoints, roomId, zone, restarts }: ConnectionsSectionProps) {
  const { data, error, refetch } = useQuery(connectionsQuery(of))
  const [isTable, setIsTable] = useState(false)
  const history = useStripHistory({ roomId, endpoints }, data?.fromMs ?? 0)
  const window = { fromMs: data?.fromMs ?? 0, toMs: data?.toMs ?? 0 }
  const shown = { fromMs: stripStartMs(data?.endpoints ?? [], window), toMs: window.toMs }
  const texts = { durationText, timeText: (ms: number) => zonedTime(ms, zone) }
  const devices = endpoints.map((device) => {
    const summary = data?.endpoints.find(({ endpointId }) => endpointId === device.id)
    const spans = data?.spans.filter(({ endpointId }) => endpointId === device.id) ?? []
    const isRestarting = restarts.has(device.id)
    const past = history.get(device.id)
    const gaps = data?.gaps.filter(({ endpointId }) => endpointId === device.id) ?? []
    const parts = stripParts(spans, summary, { ...shown, isRestarting, restarts: past?.restarts ?? [], gaps })
    const isAway = isRestarting && parts.at(-1)?.state === 'restarting'
    return {
      id: device.id,
      name: deviceName(device),
      text: data ? (isAway ? 'Restarting' : summaryText(summary, texts, window, parts)) : 'Loading…',
      parts: data ? parts : [],
      marks: (past?.marks ?? []).filter(({ atMs }) => atMs >= shown.fromMs),
    }
  })
  return (
    <Section
      title={titleOf(shown, window.fromMs, zone)}
      actions={
        <Button variant="default" size="xs" disabled={!data} onClick={() => setIsTable(!isTable)}>
          {isTable ? 'Show as strips' : 'Show as table'}
        </Button>
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {(data || !error) &&
        (isTable ? (
          <ConnectionTable devices={devices} zone={zone} />
        ) : (
          // The strips have their places before they are read.
          <>
            <ul className={classes.devices} aria-busy={!data}>
              {devices.map((device) => (
                <li key={device.id}>
                  <div className={classes.heading}>
                    <span className={classes.name}>{device.name}</span>
                    <Text span fz="sm" c="dimmed">
                      {device.text}
                    </Text>
                  </div>
                  <ConnectionStrip device={device} {...shown} zone={zone} />
                </li>
              ))}
            </ul>
            <StripTimes {...shown} zone={zone} />
            <StripLegend />
          </>
        ))}
    </Section>
  )
}

function titleOf({ fromMs, toMs }: Pick<StripWindow, 'fromMs' | 'toMs'>, windowFromMs: number, zone: string): string {
  if (fromMs === windowFromMs) return 'Connection, last 7 days'
  return toMs - fromMs <= minStripMs ? 'Connection, last hour' : `Connection since ${zonedTime(fromMs, zone)}`
}

const StripLegend = () => (
  <ul className={classes.legend} aria-label="Legend">
    {(['online', 'offline', 'restarting', 'asleep', 'not known', 'no record'] as const).map((state) => (
      <li key={state}>
        <span className={classes.swatch} data-state={state} /> {state}
      </li>
    ))}
    {(['restart', 'settings', 'note'] as const).map((kind) => (
      <li key={kind}>
        <span className={classes.legendMark} data-kind={kind} /> {kind}
      </li>
    ))}
  </ul>
)
