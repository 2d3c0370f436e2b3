// The height of the rows of all tables: compact or comfortable. The browser remembers it.
import { useLocalStorage } from '@mantine/hooks'

export type Density = 'compact' | 'comfortable'

export const useDensity = () =>
  useLocalStorage<Density>({
    key: 'roomkeeper-density',
    defaultValue: 'compact',
    getInitialValueInEffect: false,
    deserialize: (text) => (text === 'comfortable' ? 'comfortable' : 'compact'),
    serialize: (density) => density,
  })

/** A compact row is lower than a comfortable one by this. A row of one line has 44 px or 32 px. */
const savedPx = 12

/** `comfortablePx` is the height of a row of the table with comfortable rows. */
export const rowHeightOf = (density: Density, comfortablePx: number): number =>
  density === 'compact' ? comfortablePx - savedPx : comfortablePx
