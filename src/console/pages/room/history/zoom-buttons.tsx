// Zooms a chart with buttons instead of dragging: in, earlier, later and back to the whole period.
import { Button, Group, Text } from '@mantine/core'
import { useRef } from 'react'
import type { TimeRange } from '../../../parts/chart/plot-options.ts'
import { zonedTime } from '../../../parts/text/time.tsx'

interface ZoomButtonsProps {
  readonly zone: string
  readonly whole: TimeRange
  readonly zoom: TimeRange | undefined
  readonly onZoom: (range: TimeRange | undefined) => void
}

export function ZoomButtons({ zone, whole, zoom, onZoom }: ZoomButtonsProps) {
  const zoomInButton = useRef<HTMLButtonElement>(null)
  const range = zoom ?? whole
  const lengthSeconds = range.max - range.min
  /** Zooms into the latest half, because recent times are looked at most. */
  const zoomIn = () => onZoom({ min: range.max - lengthSeconds / 2, max: range.max })
  const shift = (seconds: number) => {
    const min = Math.min(Math.max(range.min + seconds, whole.min), whole.max - lengthSeconds)
    onZoom({ min, max: min + lengthSeconds })
  }
  const reset = () => {
    onZoom(undefined)
    // The reset button disappears, so the focus moves to a button that stays.
    zoomInButton.current?.focus()
  }
  return (
    <Group gap="xs" role="group" aria-label="Zoom">
      <Button ref={zoomInButton} variant="default" size="xs" onClick={zoomIn}>
        Zoom in
      </Button>
      {zoom && (
        <>
          <Button
            variant="default"
            size="xs"
            onClick={() => shift(-lengthSeconds / 2)}
            disabled={zoom.min <= whole.min}
          >
            Earlier
          </Button>
          <Button variant="default" size="xs" onClick={() => shift(lengthSeconds / 2)} disabled={zoom.max >= whole.max}>
            Later
          </Button>
          <Button variant="default" size="xs" onClick={reset}>
            Reset zoom
          </Button>
          <Text span fz="sm" c="dimmed" role="status">
            {zonedTime(zoom.min * 1000, zone)} to {zonedTime(zoom.max * 1000, zone)}
          </Text>
        </>
      )}
    </Group>
  )
}
