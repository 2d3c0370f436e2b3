// The latest readings of a room or a device: the name of each sensor above its value with the unit, and a mark outside of the limits.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Sensor } from '../../../contract/device/models.ts'
import { sensorLabels, sensorNumberText } from '../../../contract/device/sensor-texts.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { type Outlier, outlierText } from './air.ts'
import classes from './reading-tiles.module.css'
import { isReading, peopleText } from './readings.ts'

interface ReadingTilesProps {
  readonly sensors: readonly Sensor[]
  readonly readings: Parameters<typeof isReading>[1]
  readonly sample: Readonly<Record<Sensor, number>>
  readonly peopleIs: 'COUNT' | 'PRESENCE' | undefined
  readonly outliers: readonly Outlier[]
  /** Undefined for devices without a privacy shutter. */
  readonly isShutterClosed: boolean | undefined
}

export const ReadingTiles = ({ sensors, readings, sample, peopleIs, outliers, isShutterClosed }: ReadingTilesProps) => (
  <dl className={classes.tiles}>
    {peopleFirst(sensors).map((sensor) => (
      <Tile key={sensor} name={sensorLabels[sensor].name}>
        {isReading(sensor, readings) ? (
          <Reading
            sensor={sensor}
            value={sample[sensor]}
            peopleIs={peopleIs}
            outlier={outliers.find((one) => one.sensor === sensor)}
          />
        ) : (
          <Text span c="dimmed" fz="sm">
            No reading
          </Text>
        )}
      </Tile>
    ))}
    {isShutterClosed !== undefined && (
      <Tile name="Privacy shutter">
        <span className={classes.value}>{isShutterClosed ? 'Closed' : 'Open'}</span>
      </Tile>
    )}
  </dl>
)

/** The number of people is looked for most. */
const peopleFirst = (sensors: readonly Sensor[]): readonly Sensor[] =>
  sensors.toSorted((a, b) => Number(b === 'people') - Number(a === 'people'))

const Tile = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <Text component="dt" fz="sm" c="dimmed">
      {name}
    </Text>
    <dd>{children}</dd>
  </div>
)

interface ReadingProps {
  readonly sensor: Sensor
  readonly value: number
  readonly peopleIs: 'COUNT' | 'PRESENCE' | undefined
  readonly outlier: Outlier | undefined
}

const Reading = ({ sensor, value, peopleIs, outlier }: ReadingProps) => (
  <>
    <span className={classes.value}>
      {sensor === 'people' ? peopleText(value, peopleIs) : sensorNumberText(sensor, value)}
    </span>{' '}
    <Text span fz="sm" c="dimmed">
      {sensorLabels[sensor].unit}
    </Text>
    {outlier && (
      <div>
        <StatusLabel tone="warning">{outlierText(outlier)}</StatusLabel>
      </div>
    )}
  </>
)
