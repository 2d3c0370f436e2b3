// Shows when the devices of a room were online in the last 7 days, as a strip for each device or as a table.
import { Button, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import { dayMs } from '../../../../contract/durations.ts'
import { deviceName } from '../../../domain/fleet/device/device.ts'
import type { Restarts } from '../../../domain/fleet/device/restarts.ts'
import type { RoomDetails } from '../../../domain/fleet/room/room.ts'
import { ErrorPanel, Section } from '../../../parts/page/page.tsx'
import { Loading } from '../../../parts/page/skeleton.tsx'
import { client } from '../../../session.ts'
import { ConnectionStrip, StripDays } from './connection-strip.tsx'
import { ConnectionTable } from './connection-table.tsx'
import classes from './connections.module.css'
import { type ConnectionSummary, stripParts, summaryText } from './strip.ts'
import { useStripHistory } from './strip-marks.ts'

const windowMs = 7 * dayMs

/** The window ends at the time of the read, so an outage that lasts grows only by reading again. */
const refetchMs = 60_000

/** The key names the operation, so an event invalidates the query. */
const connectionsQuery = (id: number) =>
  queryOptions({
    queryKey: ['roomsConnections', { id }],
    queryFn: async ({ signal }) => {
      const toMs = Date.now()
      const fromMs = toMs - windowMs
      const { body } = await client().roomsConnections({ id, from: fromMs }, { signal })
      return { ...body, fromMs, toMs }
    },
    refetchInterval: refetchMs,
  })

interface ConnectionsSectionProps {
  readonly room: RoomDetails
  readonly zone: string
  readonly restarts: Restarts
}

export function ConnectionsSection({ room, zone, restarts }: ConnectionsSectionProps) {
  const { data, error, refetch } = useQuery(connectionsQuery(room.id))
  const [isTable, setIsTable] = useState(false)
  const history = useStripHistory(room, data?.fromMs ?? 0)
  const summaryOf = new Map<string, ConnectionSummary>(data?.endpoints.map((one) => [one.endpointId, one]))
  const window = { fromMs: data?.fromMs ?? 0, toMs: data?.toMs ?? 0 }
  const devices = room.endpoints.map((device) => {
    const summary = summaryOf.get(device.id)
    const spans = data?.spans.filter(({ endpointId }) => endpointId === device.id) ?? []
    const isRestarting = restarts.has(device.id)
    const past = history.get(device.id)
    const gaps = data?.gaps.filter(({ endpointId }) => endpointId === device.id) ?? []
    const parts = stripParts(spans, summary, { ...window, isRestarting, restarts: past?.restarts ?? [], gaps })
    const isAway = isRestarting && parts.at(-1)?.state === 'restarting'
    return {
      id: device.id,
      name: deviceName(device),
      text: isAway ? 'Restarting' : summaryText(summary, durationText, parts),
      parts,
      marks: past?.marks ?? [],
    }
  })
  return (
    <Section
      title="Connection, last 7 days"
      actions={
        data && (
          <Button variant="default" size="xs" onClick={() => setIsTable(!isTable)}>
            {isTable ? 'Show as strips' : 'Show as table'}
          </Button>
        )
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data &&
        (isTable ? (
          <ConnectionTable devices={devices} zone={zone} />
        ) : (
          <>
            <ul className={classes.devices}>
              {devices.map((device) => (
                <li key={device.id}>
                  <div className={classes.heading}>
                    <span className={classes.name}>{device.name}</span>
                    <Text span fz="sm" c="dimmed">
                      {device.text}
                    </Text>
                  </div>
                  <ConnectionStrip device={device} {...window} zone={zone} />
                </li>
              ))}
            </ul>
            <StripDays {...window} zone={zone} />
            <StripLegend />
          </>
        ))}
    </Section>
  )
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
