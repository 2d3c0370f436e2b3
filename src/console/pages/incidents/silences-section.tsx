// Lists the silences that have not ended; a new one can be made for a region, a location or the organisation. [contract 10.silence]
import { Button, Modal, Select, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ruleNames } from '../../../contract/incidents/rule-names.ts'
import { operationQuery } from '../../api.ts'
import { deviceInRoom } from '../../domain/fleet/device/device.ts'
import { useNamedRooms, useRoomNames } from '../../domain/fleet/room/room-names.ts'
import { locationLabel, useSites } from '../../domain/fleet/site/sites.ts'
import { useEndSilence } from '../../domain/incidents/silence/end-silence.tsx'
import {
  hasEnded,
  isActiveSilence,
  type ListedSilence,
  mayEndSilence,
  type SilencedPlace,
  silencesQuery,
  silenceTimeText,
} from '../../domain/incidents/silence/silence.ts'
import { SilenceForm } from '../../domain/incidents/silence/silence-form.tsx'
import { BellOffIcon, CheckIcon, ClockIcon } from '../../parts/page/icons.tsx'
import { EmptyState, LoadingBoundary, Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useNow } from '../../parts/text/now.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { usePermissions } from '../../session.ts'

export function SilencesSection() {
  const now = useNow(60_000)
  const silences = useSuspenseQuery(silencesQuery()).data.body.silences.filter((one) => !hasEnded(one, now))
  const { operate } = usePermissions()
  const [opened, { open, close }] = useDisclosure(false)
  const { ask, dialog } = useEndSilence()
  return (
    <Section
      title="Silences"
      actions={
        operate && (
          <Button size="xs" leftSection={<BellOffIcon size={16} />} onClick={open}>
            New silence
          </Button>
        )
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        No incidents open and no notifications are sent during a silence. To silence a room or device, open its page.
      </Text>
      {silences.length === 0 ? (
        <EmptyState title="No silences">Use one during planned work.</EmptyState>
      ) : (
        <SilencesTable silences={silences} now={now} onEnd={operate ? ask : undefined} />
      )}
      <Modal opened={opened} onClose={close} title="New silence">
        <LoadingBoundary>
          <NewSilence onClose={close} />
        </LoadingBoundary>
      </Modal>
      {dialog}
    </Section>
  )
}

interface SilencesTableProps {
  readonly silences: readonly ListedSilence[]
  readonly now: number
  /** Undefined for sessions that may not operate. */
  readonly onEnd: ((silence: ListedSilence) => void) | undefined
}

function SilencesTable({ silences, now, onEnd }: SilencesTableProps) {
  const permissions = usePermissions()
  const linkOf = usePlaceLinks(silences)
  const endColumn: Column<ListedSilence> = {
    id: 'actions',
    title: 'Actions',
    isControl: true,
    inCard: 'corner',
    cell: (silence) =>
      mayEndSilence(silence, permissions) && (
        <Button variant="default" size="xs" onClick={() => onEnd?.(silence)}>
          End
        </Button>
      ),
  }
  return (
    <DataTable
      label="Silences"
      rows={silences}
      columns={[...silenceColumns(now, linkOf), ...(onEnd ? [endColumn] : [])]}
      keyOf={({ id }) => id}
      minWidthPx={760}
    />
  )
}

const silenceColumns = (now: number, linkOf: (place: SilencedPlace) => ReactNode): readonly Column<ListedSilence>[] => [
  { id: 'place', title: 'Applies to', cell: ({ place }) => linkOf(place) },
  {
    id: 'state',
    title: 'State',
    sortValue: (silence) => (isActiveSilence(silence, now) ? 0 : 1),
    cell: (silence) => <SilenceState isActive={isActiveSilence(silence, now)} />,
  },
  { id: 'time', title: 'Time', cell: (silence) => silenceTimeText(silence, now) },
  {
    id: 'rules',
    title: 'Rules',
    cell: ({ rules }) => rules?.map((rule) => ruleNames[rule]).join(', ') ?? 'All except security rules',
  },
  { id: 'reason', title: 'Reason', breaksWords: true, cell: ({ reason }) => reason },
  {
    id: 'author',
    title: 'Created by',
    sortValue: ({ createdBy }) => createdBy.name.toLowerCase(),
    cell: ({ createdBy }) => createdBy.name,
  },
]

const SilenceState = ({ isActive }: { readonly isActive: boolean }) => (
  <StatusLabel tone={isActive ? 'plain' : 'quiet'} icon={isActive ? <CheckIcon size={16} /> : <ClockIcon size={16} />}>
    {isActive ? 'Active' : 'Scheduled'}
  </StatusLabel>
)

/** Names the places of all rows. The lists of rooms and devices have their names, so a long list of silences needs no request for each. */
function usePlaceLinks(silences: readonly ListedSilence[]): (place: SilencedPlace) => ReactNode {
  const { regions, locationById } = useSites()
  const hasDevice = silences.some(({ place }) => place.endpointId !== undefined)
  const hasRoom = silences.some(({ place }) => place.roomId !== undefined)
  const rooms = useNamedRooms({ enabled: hasRoom || hasDevice })
  const roomNameOf = useRoomNames({ enabled: hasRoom || hasDevice })
  const { data: devices } = useQuery({ ...operationQuery('endpointsBasicList'), enabled: hasDevice })
  return ({ roomId, endpointId, regionId, locationId }) => {
    if (roomId !== undefined) {
      return (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
          {roomNameOf(roomId)}
        </Link>
      )
    }
    if (endpointId !== undefined) {
      const device = devices?.body.endpoints.find(({ id }) => id === endpointId)
      return (
        <Link to="/devices/$endpointId" params={{ endpointId }}>
          {device ? deviceInRoom(device, rooms) : 'Device'}
        </Link>
      )
    }
    if (locationId !== undefined) return locationById.get(locationId)?.name ?? `Location ${locationId}`
    if (regionId !== undefined) return regions.find(({ id }) => id === regionId)?.name ?? `Region ${regionId}`
    return 'Whole organisation'
  }
}

/** Values of the select are the kind of place and its id. */
function NewSilence({ onClose }: { readonly onClose: () => void }) {
  const { regions, locations } = useSites()
  const { everywhere } = usePermissions()
  const [chosen, setChosen] = useState<string | null>(null)
  return (
    <SilenceForm
      place={chosen === null ? undefined : placeOf(chosen)}
      intro={
        <Select
          label="Site"
          placeholder="Choose a site"
          data={[
            ...(everywhere ? [{ value: 'all', label: 'Whole organisation' }] : []),
            { group: 'Regions', items: regions.map(({ id, name }) => ({ value: `region ${id}`, label: name })) },
            {
              group: 'Locations',
              items: locations.map((one) => ({ value: `location ${one.id}`, label: locationLabel(one) })),
            },
          ]}
          value={chosen}
          onChange={setChosen}
          searchable
          limit={300}
          allowDeselect={false}
          nothingFoundMessage="No matches"
        />
      }
      onClose={onClose}
    />
  )
}

function placeOf(chosen: string): SilencedPlace {
  const [kind, id] = chosen.split(' ')
  if (kind === 'region') return { regionId: Number(id) }
  return kind === 'location' ? { locationId: Number(id) } : { all: true }
}
