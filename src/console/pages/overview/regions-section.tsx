// Shows the rooms of each region by state, as one bar.
import { useMemo } from 'react'
import { RegionBars } from '../../domain/fleet/room/region-bars.tsx'
import { regionStates } from '../../domain/fleet/room/region-states.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { Section } from '../../parts/page/page.tsx'

export function RegionsSection({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const regions = useMemo(() => regionStates(rows), [rows])
  return (
    <Section title="Rooms by region">
      <RegionBars regions={regions} />
    </Section>
  )
}
