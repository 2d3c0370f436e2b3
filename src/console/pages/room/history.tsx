// What was measured over a day, a week or a month: charts with one cursor, the same as a table, and as a file.
import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { sensors as allSensors } from '../../../contract/models.ts'
import { sensorLabels } from '../../domain/air/air.ts'
import type { RoomDetails } from '../../domain/room/room.ts'
import { startSeconds } from '../../parts/chart/buckets.ts'
import type { TimeRange } from '../../parts/chart/plot-options.ts'
import { DownloadIcon } from '../../parts/page/icons.tsx'
import { EmptyState, ErrorPanel, Loading, Section } from '../../parts/page/page.tsx'
import { viewerTimeZone } from '../../parts/text/time.tsx'
import { HistoryCharts } from './history-charts.tsx'
import { downloadCsv } from './history-csv.ts'
import { askHistory, type SpanName, spanOf, spans } from './history-query.ts'
import { HistoryTable } from './history-table.tsx'
import { inAskedOrder, sensorsIn } from './measured.ts'
import { ZoomButtons } from './zoom-buttons.tsx'

interface HistoryProps {
  readonly room: RoomDetails
  readonly zone: string
}

export function History({ room, zone }: HistoryProps) {
  const search = useSearch({ from: '/rooms/$roomId' })
  const navigate = useNavigate({ from: '/rooms/$roomId' })
  const span = spanOf(search.span)
  const { data, error, refetch } = useQuery({ ...askHistory(room.id, span), placeholderData: keepPreviousData })
  const [zoomed, setZoomed] = useState<{ readonly span: SpanName; readonly range: TimeRange }>()
  const [asTable, setAsTable] = useState(false)

  /** Of the data that is there: while another span is read, the one before stays as it was. */
  const shown = data?.span ?? span
  const zoom = zoomed?.span === shown ? zoomed.range : undefined
  const whole = useMemo(() => ({ min: data?.from ?? 0, max: data?.to ?? 1 }), [data])
  const range = zoom ?? whole
  const onZoom = useCallback(
    (chosen: TimeRange | undefined) => {
      if (!chosen) return setZoomed(undefined)
      // Less than this is a line without points.
      if (chosen.max - chosen.min >= 3 * spans[shown].step) setZoomed({ span: shown, range: chosen })
    },
    [shown],
  )
  const buckets = useMemo(
    () =>
      data?.buckets.filter(
        (bucket) => startSeconds(bucket) >= range.min - spans[shown].step && startSeconds(bucket) <= range.max,
      ) ?? [],
    [data, range, shown],
  )
  const sensors = useMemo(
    () => inAskedOrder(new Set(allSensors.filter((sensor) => data?.buckets.some((bucket) => bucket[sensor])))),
    [data],
  )
  if (room.endpoints.length === 0 && data?.buckets.length === 0) return null

  const show = (chosen: { span: SpanName; sensor?: string }) =>
    void navigate({ search: chosen, replace: true, resetScroll: false })
  const silent = sensorsIn(room.endpoints).sensors.filter((sensor) => !sensors.includes(sensor))
  return (
    <Section
      title="History"
      actions={
        <Group gap="xs">
          {sensors.length > 0 && (
            <>
              <Button variant="default" size="xs" onClick={() => setAsTable(!asTable)}>
                {asTable ? 'Show as charts' : 'Show as table'}
              </Button>
              <Button
                variant="default"
                size="xs"
                leftSection={<DownloadIcon size={16} />}
                onClick={() => downloadCsv(`room-${room.id}-${shown}.csv`, buckets, sensors)}
              >
                Download CSV
              </Button>
            </>
          )}
          <SegmentedControl
            aria-label="Span of the history"
            size="xs"
            value={span}
            onChange={(chosen) => show({ ...search, span: spanOf(chosen) })}
            data={Object.entries(spans).map(([value, { title }]) => ({ value, label: title }))}
          />
        </Group>
      }
    >
      {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && sensors.length === 0 && (
        <EmptyState title={`Nothing was measured here in the last ${shown}.`}>
          Samples show here as soon as a device with sensors sends them.
        </EmptyState>
      )}
      {data && sensors.length > 0 && (
        <>
          <ZoomButtons whole={whole} zoom={zoom} onZoom={onZoom} />
          {asTable ? (
            <HistoryTable buckets={buckets} sensors={sensors} span={shown} zone={zone} />
          ) : (
            <HistoryCharts
              roomId={room.id}
              data={data}
              sensors={sensors}
              range={range}
              onZoom={onZoom}
              onEnlarge={(sensor) => show({ span, ...(sensor && { sensor }) })}
              zone={zone}
              chosen={search.sensor}
            />
          )}
          <Text fz="xs" c="dimmed" mt="sm">
            {asTable
              ? 'The mean, and from the least to the largest.'
              : 'The line is the mean, the band from the least to the largest. Drag to zoom, double click for all.'}{' '}
            Times are those of {viewerTimeZone.replaceAll('_', ' ')}.
            {silent.length > 0 &&
              ` Not measured in this time: ${silent.map((sensor) => sensorLabels[sensor].name).join(', ')}.`}
          </Text>
        </>
      )}
    </Section>
  )
}
