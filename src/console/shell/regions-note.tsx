// Shows in the header which regions a person sees, unless they see all of them. [contract 11.access]
import { Badge, Tooltip } from '@mantine/core'
import { regionsLine, useOwnRegionNames } from '../domain/site/own-regions.ts'

export function RegionsNote() {
  const names = useOwnRegionNames()
  if (names === undefined) return null
  return (
    <Tooltip label={`You see only what is in these regions. ${regionsLine(names)}`} multiline maw={320}>
      <Badge variant="light" tt="none" maw={260} style={{ flexShrink: 1 }} visibleFrom="sm">
        {regionsLine(names)}
      </Badge>
    </Tooltip>
  )
}
