// The button above a list that groups its rows by location. On a phone the address and saved views can have groups too.
import { Button } from '@mantine/core'
import { byLocation } from './location-group.ts'

interface GroupSwitchProps {
  readonly group: string | undefined
  readonly onChange: (group: string | undefined) => void
}

export function GroupSwitch({ group, onChange }: GroupSwitchProps) {
  const isOn = group === byLocation
  return (
    <Button
      variant={isOn ? 'light' : 'subtle'}
      size="compact-sm"
      visibleFrom="sm"
      style={{ flex: 'none' }}
      aria-pressed={isOn}
      onClick={() => onChange(isOn ? undefined : byLocation)}
    >
      Group by location
    </Button>
  )
}
