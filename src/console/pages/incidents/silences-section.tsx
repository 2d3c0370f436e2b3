// Lists the silences that have not ended; a new one can be made for a region, a location or the organisation. [contract 10.silence]
import { Button, Modal, Select, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ruleNames } from '../../../contract/incidents/rule-names.ts'
import { operationQuery } from '../../api.ts'
import { deviceName } from '../../domain/fleet/device/device.ts'
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
        During a silence no incidents open. To silence a room or device, open its page.
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
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table verticalSpacing="xs" aria-label="Silences">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Applies to</Table.Th>
            <Table.Th scope="col">State</Table.Th>
            <Table.Th scope="col">Time</Table.Th>
            <Table.Th scope="col">Rules</Table.Th>
            <Table.Th scope="col">Reason</Table.Th>
            <Table.Th scope="col">Created by</Table.Th>
            {onEnd && <Table.Td />}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {silences.map((silence) => (
            <Table.Tr key={silence.id}>
              <Table.Th scope="row" fw={550}>
                <PlaceLink place={silence.place} />
              </Table.Th>
              <Table.Td>
                <SilenceState isActive={isActiveSilence(silence, now)} />
              </Table.Td>
              <Table.Td>{silenceTimeText(silence, now)}</Table.Td>
              <Table.Td>
                {silence.rules?.map((rule) => ruleNames[rule]).join(', ') ?? 'All except security rules'}
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{silence.reason}</Table.Td>
              <Table.Td>{silence.createdBy.name}</Table.Td>
              {onEnd && (
                <Table.Td ta="right">
                  {mayEndSilence(silence, permissions) && (
                    <Button variant="default" size="xs" onClick={() => onEnd(silence)}>
                      End
                    </Button>
                  )}
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const SilenceState = ({ isActive }: { readonly isActive: boolean }) => (
  <StatusLabel
    colour={isActive ? 'var(--mantine-color-text)' : 'var(--rk-empty)'}
    icon={isActive ? <CheckIcon size={16} /> : <ClockIcon size={16} />}
  >
    {isActive ? 'Active' : 'Scheduled'}
  </StatusLabel>
)

function PlaceLink({ place }: { readonly place: SilencedPlace }): ReactNode {
  const { regions, locationById } = useSites()
  const { roomId, endpointId, regionId, locationId } = place
  // The lists have the names of all rooms and devices, so a long list of silences needs no request for each.
  const { data: rooms } = useQuery({ ...operationQuery('roomsList'), enabled: roomId !== undefined })
  const { data: devices } = useQuery({ ...operationQuery('endpointsBasicList'), enabled: endpointId !== undefined })
  if (roomId !== undefined) {
    return (
      <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
        {rooms?.body.rooms.find(({ id }) => id === roomId)?.name ?? `Room ${roomId}`}
      </Link>
    )
  }
  if (endpointId !== undefined) {
    const device = devices?.body.endpoints.find(({ id }) => id === endpointId)
    return (
      <Link to="/devices/$endpointId" params={{ endpointId }}>
        {device ? deviceName(device) : 'Device'}
      </Link>
    )
  }
  if (locationId !== undefined) return locationById.get(locationId)?.name ?? `Location ${locationId}`
  if (regionId !== undefined) return regions.find(({ id }) => id === regionId)?.name ?? `Region ${regionId}`
  return 'Whole organisation'
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
