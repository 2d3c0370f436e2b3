// The smallest places that silence incidents: the device, the room or the location that each is about. [contract 10.silence]
import type { ListedIncident } from '../incident.ts'
import type { SilencedPlace } from '../silence/silence.ts'

export interface PlaceToSilence {
  readonly place: SilencedPlace
  readonly incidents: readonly ListedIncident[]
}

/** An incident in several locations has no such place: it is left out, because a silence of a region or of everything is chosen on purpose. */
export function placesToSilence(incidents: readonly ListedIncident[]): readonly PlaceToSilence[] {
  const placed = incidents.flatMap((incident) => {
    const place = placeOf(incident)
    return place ? [{ place, incident }] : []
  })
  return [...Map.groupBy(placed, ({ place }) => JSON.stringify(place)).values()].map((same) => ({
    place: (same[0] as (typeof placed)[number]).place,
    incidents: same.map(({ incident }) => incident),
  }))
}

function placeOf({ cause, roomIds, locationIds }: ListedIncident): SilencedPlace | undefined {
  if (cause.level === 'ENDPOINT') return { endpointId: cause.id }
  const [roomId] = roomIds
  if (roomId !== undefined && roomIds.length === 1) return { roomId }
  const [locationId] = locationIds
  return locationId !== undefined && locationIds.length === 1 ? { locationId } : undefined
}
