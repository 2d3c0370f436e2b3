// Shows the sensor history of a room over a day up to three years, or over the days of the address, alone or beside a second room, as charts or as a table, with a CSV download.
import { Box, Button, Group, SegmentedControl, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { sensors as allSensors, type Sensor } from '../../../../contract/device/models.ts'
import { sensorLabels } from '../../../../contract/device/sensor-texts.ts'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import type { RoomDetails } from '../../../domain/fleet/room/room.ts'
import { useRoomNames } from '../../../domain/fleet/room/room-names.ts'
import { RoomSelect } from '../../../domain/fleet/room/room-select.tsx'
import { type HistoryBucket, startSeconds } from '../../../parts/chart/buckets.ts'
import type { TimeRange } from '../../../parts/chart/plot-options.ts'
import { DownloadIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, ErrorPanel, Section } from '../../../parts/page/page.tsx'
import { Loading } from '../../../parts/page/skeleton.tsx'
import { useSearchParamsUpdate } from '../../../parts/table/search-params.ts'
import { zoneCity } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'
import { roomSensors, sortSensors } from '../room-sensors.ts'
import { HistoryCharts } from './history-charts.tsx'
import { downloadHistoryCsv } from './history-csv.ts'
import {
  type HistoryPeriod,
  historyPeriodOf,
  historyQuery,
  type PeriodInAddress,
  type RoomHistory,
  type SpanName,
  spans,
} from './history-query.ts'
import { HistoryTable } from './history-table.tsx'
import { ZoomButtons } from './zoom-buttons.tsx'

interface HistorySectionProps {
  readonly room: RoomDetails
  readonly zone: string
}

export function HistorySection({ room, zone: ofRoom }: HistorySectionProps) {
  const search = useSearch({ from: '/rooms/$roomId' })
  const navigate = useNavigate({ from: '/rooms/$roomId' })
  const setSearch = useSearchParamsUpdate<typeof search>(navigate)
  const period = useHistoryPeriod(search, ofRoom)
  const { data, error, refetch } = useQuery({ ...historyQuery(room.id, period), placeholderData: keepPreviousData })
  const [isTable, setIsTable] = useState(false)
  const beside = useBeside(search.beside, room.id, period)

  // While another period is loading, the previous data stays on the screen, with its own period.
  const shown = data?.period ?? period
  const { zone } = shown
  const { whole, zoom, setZoom } = useZoom(data, shown)
  const range = zoom ?? whole
  const buckets = useMemo(() => bucketsWithin(data?.buckets ?? [], range, shown), [data, range, shown])
  const sensors = useMemo(
    () => sortSensors(new Set(allSensors.filter((sensor) => data?.buckets.some((bucket) => bucket[sensor])))),
    [data],
  )
  if (room.endpoints.length === 0 && data?.buckets.length === 0) return null

  return (
    <Section
      title="History"
      actions={
        <Group gap="xs">
          {sensors.length > 0 && (
            <>
              <Button variant="default" size="xs" onClick={() => setIsTable(!isTable)}>
                {isTable ? 'Show as charts' : 'Show as table'}
              </Button>
              <Button
                variant="default"
                size="xs"
                leftSection={<DownloadIcon size={16} />}
                onClick={() => {
                  downloadHistoryCsv(`room-${room.id}-${shown.id}.csv`, buckets, sensors)
                  if (beside?.id !== undefined && beside.data)
                    downloadHistoryCsv(
                      `room-${beside.id}-${shown.id}.csv`,
                      bucketsWithin(beside.data.buckets, range, shown),
                      sensors,
                    )
                }}
              >
                Download CSV
              </Button>
            </>
          )}
          <SpanControl period={period} onChange={(span) => setSearch({ span, from: undefined, to: undefined })} />
        </Group>
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && sensors.length === 0 && (
        <EmptyState title={`No data for ${shown.phrase}`}>Data appears when a device with sensors reports.</EmptyState>
      )}
      {shown.span === undefined && (
        <Text fz="sm" fw={600} mb="sm">
          {shown.title}
        </Text>
      )}
      {data && sensors.length > 0 && (
        <>
          <Group justify="space-between" align="flex-end" gap="xs" mb="sm">
            <ZoomButtons zone={zone} whole={whole} zoom={zoom} onZoom={setZoom} />
            {!isTable && (
              <Box w={280} maw="100%">
                <RoomSelect
                  label="Second room beside it"
                  value={beside ? String(beside.id) : null}
                  exceptId={room.id}
                  isClearable
                  onChange={(id) => setSearch({ beside: id ?? undefined })}
                />
              </Box>
            )}
          </Group>
          {beside?.error && <ErrorPanel error={beside.error} />}
          {isTable ? (
            <HistoryTable buckets={buckets} sensors={sensors} period={shown} />
          ) : (
            <HistoryCharts
              roomId={room.id}
              roomName={placedRoomName(room.name, room.location?.name)}
              beside={beside?.data && { name: beside.name, data: beside.data }}
              data={data}
              sensors={sensors}
              range={range}
              onZoom={setZoom}
              onExpand={(sensor) => setSearch({ sensor })}
              chosen={search.sensor}
            />
          )}
          <HistoryLegend room={room} zone={zone} sensorsWithData={sensors} isTable={isTable} />
        </>
      )}
    </Section>
  )
}

function useHistoryPeriod({ span, from, to }: PeriodInAddress, zone: string): HistoryPeriod {
  const { org } = useSession()
  return useMemo(
    () =>
      historyPeriodOf(
        { ...(span && { span }), ...(from && { from }), ...(to && { to }) },
        { zone, ofOrg: org.timezone },
      ),
    [span, from, to, zone, org.timezone],
  )
}

const bucketsWithin = (buckets: readonly HistoryBucket[], range: TimeRange, { stepSeconds }: HistoryPeriod) =>
  buckets.filter((bucket) => startSeconds(bucket) >= range.min - stepSeconds && startSeconds(bucket) <= range.max)

/** The room that the address names beside the room of the page. */
function useBeside(text: string | undefined, roomId: number, period: HistoryPeriod) {
  const id = text !== undefined && /^\d{1,9}$/.test(text) && Number(text) !== roomId ? Number(text) : undefined
  const roomNameOf = useRoomNames({ enabled: id !== undefined })
  const { data, error } = useQuery({ ...historyQuery(id ?? 0, period), enabled: id !== undefined })
  if (id === undefined) return undefined
  return { id, name: roomNameOf(id), data, error }
}

/** A chart with fewer buckets than this would be a line without points. */
const minZoomBuckets = 3

/** The zoom belongs to one period: choosing another period resets the zoom. */
function useZoom(data: RoomHistory | undefined, { id, stepSeconds }: HistoryPeriod) {
  const [zoomed, setZoomed] = useState<{ readonly id: string; readonly range: TimeRange }>()
  const whole = useMemo(() => ({ min: data?.from ?? 0, max: data?.to ?? 1 }), [data])
  const setZoom = useCallback(
    (range: TimeRange | undefined) => {
      if (!range) return setZoomed(undefined)
      if (range.max - range.min >= minZoomBuckets * stepSeconds) setZoomed({ id, range })
    },
    [id, stepSeconds],
  )
  return { whole, zoom: zoomed?.id === id ? zoomed.range : undefined, setZoom }
}

interface SpanControlProps {
  readonly period: HistoryPeriod
  readonly onChange: (span: SpanName) => void
}

/** No span is chosen while the address has days. */
const SpanControl = ({ period: { span, title }, onChange }: SpanControlProps) => (
  <SegmentedControl<SpanName | ''>
    aria-label="Period"
    data-printed={title}
    size="xs"
    value={span ?? ''}
    onChange={(value) => value && onChange(value)}
    data={spanChoices}
  />
)

const spanChoices = (Object.keys(spans) as SpanName[]).map((value) => ({ value, label: spans[value].title }))

interface HistoryLegendProps {
  readonly room: RoomDetails
  readonly zone: string
  readonly sensorsWithData: readonly Sensor[]
  readonly isTable: boolean
}

function HistoryLegend({ room, zone, sensorsWithData, isTable }: HistoryLegendProps) {
  const silent = roomSensors(room.endpoints).sensors.filter((sensor) => !sensorsWithData.includes(sensor))
  return (
    <Text fz="xs" c="dimmed" mt="sm">
      {isTable
        ? 'Average, with the range from minimum to maximum.'
        : 'Line: average. Band: minimum to maximum. Dashed: limit. Drag to zoom, double-click to reset. Shaded: Monday to Friday, 8:00 to 18:00.'}{' '}
      {zoneCity(zone)} time.
      {silent.length > 0 && ` No data for ${silent.map((sensor) => sensorLabels[sensor].name).join(', ')}.`}
    </Text>
  )
}
