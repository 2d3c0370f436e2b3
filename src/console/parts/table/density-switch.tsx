// The button above a list that makes the rows of all tables compact or comfortable.
import { ActionIcon, Tooltip } from '@mantine/core'
import { ComfortableIcon, CompactIcon } from '../page/icons.tsx'
import { useDensity } from './density.ts'

export function DensitySwitch() {
  const [density, setDensity] = useDensity()
  const isCompact = density === 'compact'
  const label = isCompact ? 'Comfortable rows' : 'Compact rows'
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        size={28}
        aria-label={label}
        onClick={() => setDensity(isCompact ? 'comfortable' : 'compact')}
      >
        {isCompact ? <ComfortableIcon size={16} /> : <CompactIcon size={16} />}
      </ActionIcon>
    </Tooltip>
  )
}
