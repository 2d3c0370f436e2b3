// Cuts the structure of a source into parts that fit into requests. [contract 15.reports]
import {
  maxProfilesPerPart,
  maxSourceDevices,
  maxThingsPerPart,
  type ReportedStructure,
  type StructurePart,
  type StructureThings,
} from './sources.ts'

type Kind = keyof StructureThings
const partSizes: Readonly<Record<Kind, number>> = {
  regions: maxThingsPerPart,
  locations: maxThingsPerPart,
  rooms: maxThingsPerPart,
  profiles: maxProfilesPerPart,
}

/** Things beyond the limit of a source are left out. All parts have the same `readAt`, which tells this reading from the one before. A structure without things is one part. */
export function structureParts({ revision, ...lists }: ReportedStructure, readAt: string): StructurePart[] {
  const parts = (Object.keys(partSizes) as Kind[]).flatMap((kind) => {
    const things: StructureThings[Kind] = lists[kind].slice(0, maxSourceDevices)
    const size = partSizes[kind]
    return Array.from({ length: Math.ceil(things.length / size) }, (_, i) => ({
      [kind]: things.slice(i * size, (i + 1) * size),
    }))
  })
  const all: Partial<StructureThings>[] = parts.length === 0 ? [{}] : parts
  return all.map((part, i) => ({ revision, readAt, isLast: i === all.length - 1, ...part }))
}
