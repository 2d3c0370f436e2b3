// Zooming without dragging: closer, earlier, later, and back to all.
import { Button, Group, Text } from '@mantine/core'
import { useRef } from 'react'
import type { TimeRange } from '../../parts/chart/plot-options.ts'
import { shortTime } from '../../parts/text/time.tsx'

interface ZoomButtonsProps {
  readonly whole: TimeRange
  readonly zoom: TimeRange | undefined
  readonly onZoom: (range: TimeRange | undefined) => void
}

export function ZoomButtons({ whole, zoom, onZoom }: ZoomButtonsProps) {
  const first = useRef<HTMLButtonElement>(null)
  const range = zoom ?? whole
  const length = range.max - range.min
  /** The latest half: what one is asked about is mostly lately. */
  const closer = () => onZoom({ min: range.max - length / 2, max: range.max })
  const shift = (by: number) => {
    const min = Math.min(Math.max(range.min + by, whole.min), whole.max - length)
    onZoom({ min, max: min + length })
  }
  const reset = () => {
    onZoom(undefined)
    // The button that was pressed is gone then.
    first.current?.focus()
  }
  return (
    <Group gap="xs" mb="sm" role="group" aria-label="Zoom">
      <Button ref={first} variant="default" size="xs" onClick={closer}>
        Zoom in
      </Button>
      {zoom && (
        <>
          <Button variant="default" size="xs" onClick={() => shift(-length / 2)} disabled={zoom.min <= whole.min}>
            Earlier
          </Button>
          <Button variant="default" size="xs" onClick={() => shift(length / 2)} disabled={zoom.max >= whole.max}>
            Later
          </Button>
          <Button variant="default" size="xs" onClick={reset}>
            Reset zoom
          </Button>
          <Text span fz="sm" c="dimmed" role="status">
            {shortTime(zoom.min * 1000)} to {shortTime(zoom.max * 1000)}
          </Text>
        </>
      )}
    </Group>
  )
}
