// Shows what people noted about a room: floor, contact, external id and custom fields. It takes no space without any.
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { Section } from '../../parts/page/page.tsx'
import { type Definition, DefinitionList, hasDefinitions } from '../../parts/text/definition-list.tsx'

export function RoomAttributes({ room: { floor, contact, externalId, fields = {} } }: { readonly room: RoomDetails }) {
  const definitions: readonly Definition[] = [
    ['Floor', floor],
    ['Contact', contact],
    ['External ID', externalId],
    ...Object.entries(fields).map(([name, text]) => [name, text, `field.${name}`] as const),
  ]
  if (!hasDefinitions(definitions)) return null
  return (
    <Section title="About this room">
      <DefinitionList definitions={definitions} />
    </Section>
  )
}
