// Shows the custom fields of a room. It takes no space without any.
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { Section } from '../../parts/page/page.tsx'
import { type Definition, DefinitionList, hasDefinitions } from '../../parts/text/definition-list.tsx'

export function RoomAttributes({ room: { fields = {} } }: { readonly room: RoomDetails }) {
  const definitions: readonly Definition[] = Object.entries(fields)
  if (!hasDefinitions(definitions)) return null
  return (
    <Section title="About this room">
      <DefinitionList definitions={definitions} />
    </Section>
  )
}
