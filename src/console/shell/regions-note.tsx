// Shows in the header which regions a person sees, unless they see all of them. [contract 11.access]
import { Badge, Box, Tooltip } from '@mantine/core'
import { regionsLine, useOwnRegionNames } from '../domain/fleet/site/own-regions.ts'
import { plural } from '../parts/text/words.ts'

export function RegionsNote() {
  const names = useOwnRegionNames()
  if (names === undefined) return null
  const onlyName = names.length === 1 ? names[0] : undefined
  return (
    <Tooltip label={`You see only what is in these regions. ${regionsLine(names)}`} multiline maw={320}>
      <Box miw={0} display="flex">
        <Badge variant="light" tt="none" maw={260} visibleFrom="sm">
          {regionsLine(names)}
        </Badge>
        <Badge variant="light" tt="none" maw="100%" hiddenFrom="sm">
          {onlyName ?? (names.length === 0 ? 'No regions' : plural(names.length, 'region'))}
        </Badge>
      </Box>
    </Tooltip>
  )
}
