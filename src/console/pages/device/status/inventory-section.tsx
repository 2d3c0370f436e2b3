// Shows what people noted for the inventory: asset tag, dates, external id and custom fields. It takes no space without any.

import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { Section } from '../../../parts/page/page.tsx'
import { type Definition, DefinitionList, hasDefinitions } from '../../../parts/text/definition-list.tsx'

export function InventorySection({ device }: { readonly device: DeviceDetails }) {
  const { assetTag, installedOn, warrantyUntil, externalId, fields = {} } = device
  const definitions: readonly Definition[] = [
    ['Asset tag', assetTag],
    ['Installed on', installedOn],
    ['Warranty until', warrantyUntil],
    ['External ID', externalId],
    ...Object.entries(fields).map(([name, text]) => [name, text, `field.${name}`] as const),
  ]
  if (!hasDefinitions(definitions)) return null
  return (
    <Section title="Inventory">
      <DefinitionList definitions={definitions} />
    </Section>
  )
}
