// The facts about a room below its name: since when it has its state, incidents, people, profile, local time, floor, contact.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { operationQuery } from '../../api.ts'
import { ContactText } from '../../domain/fleet/fields/contact-text.tsx'
import { freshnessOf } from '../../domain/fleet/room/freshness.ts'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { roomSinceMs } from '../../domain/fleet/room/room-since.ts'
import type { RoomState } from '../../domain/fleet/room/room-state.tsx'
import { type IncidentsOf, useOpenIncidentsOf } from '../../domain/incidents/place-incidents.ts'
import { severityName } from '../../domain/incidents/severity-label.tsx'
import { isReading, peopleText } from '../../domain/sensors/readings.ts'
import { FactList } from '../../parts/text/fact-list.tsx'
import { useNow } from '../../parts/text/now.ts'
import { ageText, clockInZone, DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { sampleQuery } from './sample-query.ts'

interface RoomFactsProps {
  readonly room: RoomDetails
  readonly state: RoomState
  readonly zone: string
  readonly incidentsOf: IncidentsOf
}

export function RoomFactList({ room, state, zone, incidentsOf }: RoomFactsProps) {
  const now = useNow()
  const sinceMs = roomSinceMs(state, room.endpoints)
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  return (
    <FactList
      label="About this room"
      facts={[
        [
          'Since',
          sinceMs !== undefined && (
            <span key="since">
              <DateTime at={sinceMs} zone={zone} />, for {ageText(sinceMs, now)}
            </span>
          ),
        ],
        ['Incidents', <IncidentsFact key="incidents" of={incidentsOf} />],
        ['People', useOccupancy(room)],
        [
          'Profile',
          room.profileId !== undefined && (
            <Link key="profile" to="/profiles/$profileId" params={{ profileId: String(room.profileId) }}>
              {profiles?.find(({ id }) => id === room.profileId)?.name ?? `Profile ${room.profileId}`}
            </Link>
          ),
        ],
        // Without a location nothing says on which clocks the room is.
        ['Local time', room.location && clockInZone(now, zone)],
        ['Floor', room.floor],
        ['Contact', room.contact && <ContactText key="contact" contact={room.contact} />],
        ['External ID', room.externalId],
      ]}
    />
  )
}

/** "None", "Critical" or "3, worst Critical". */
function IncidentsFact({ of }: { readonly of: IncidentsOf }) {
  const incidents = useOpenIncidentsOf(of)
  const [worst] = incidents ?? []
  if (!incidents || !worst) return incidents ? 'None' : '…'
  const name = severityName(worst.severity)
  return (
    <Link to="/incidents/$incidentId" params={{ incidentId: worst.id }}>
      {incidents.length === 1 ? name : `${incidents.length} open, worst ${name}`}
    </Link>
  )
}

/** "3 of 8", "3", "Capacity 8", or "In use" where only presence is known. */
function useOccupancy({ id, capacity, endpoints }: RoomDetails): string | undefined {
  const { data } = useQuery(sampleQuery(id))
  const now = useNow()
  const sample = data?.data[0]
  const { isNow } = freshnessOf(sample && Number(sample.timestamp) * 1000, now)
  const isKnown = sample && isNow && isReading('people', data) && endpoints.some(({ connected }) => connected)
  const people = isKnown ? peopleText(sample.people, data.peopleIs) : undefined
  if (capacity === undefined) return people
  if (people === undefined) return `Up to ${capacity}`
  return data?.peopleIs === 'PRESENCE' ? `${people}, ${plural(capacity, 'seat')}` : `${people} of ${capacity}`
}
