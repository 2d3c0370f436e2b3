// Confirms the deletion of a region or a location, or says what has to be done first. [interface 12] [interface 15]
import { List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { operationQuery, useWrite } from '../../api.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { plural } from '../../parts/text/words.ts'
import { useSession } from '../../session.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'

interface DeleteProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Leaves a page that shows what was deleted. */
  readonly onDeleted?: (() => void) | undefined
}

/** The list can be updated before the dialog has closed. */
const DeletedNotice = ({ isOwn }: { readonly isOwn: boolean }) => (
  <Text>{isOwn ? 'Deleted' : 'Already deleted by someone else'}</Text>
)

const maxNamesShown = 5

const NameList = ({ names }: { readonly names: readonly string[] }) => (
  <List fz="sm" style={{ overflowWrap: 'anywhere' }}>
    {names.slice(0, maxNamesShown).map((name, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: names can repeat, and the list is static
      <List.Item key={index}>{name}</List.Item>
    ))}
    {names.length > maxNamesShown && <List.Item>and {names.length - maxNamesShown} more</List.Item>}
  </List>
)

interface DeleteRegionProps extends DeleteProps {
  readonly region: RegionNode | undefined
}

export function DeleteRegion({ region, opened, onClose, onDeleted = onClose }: DeleteRegionProps) {
  const remove = useWrite('regionsDelete', { successText: 'Region deleted', onDone: onDeleted, quiet: true })
  const users = useQuery({ ...operationQuery('usersList'), enabled: opened }).data?.body.users
  const usersOfRegion = users?.filter(({ regionIds }) => region && regionIds.includes(region.id)) ?? []
  const isBlocked = region !== undefined && region.locationCount > 0
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isBlocked ? 'This region cannot be deleted yet' : 'Delete this region?'}
      verb="Delete region"
      blocked={isBlocked || !region}
      mutation={remove}
      onConfirm={() => region && remove.mutate({ input: { id: region.id } })}
    >
      {!region && <DeletedNotice isOwn={!remove.isIdle} />}
      {region && isBlocked && (
        <Stack gap="xs">
          <Text>
            <b>{region.name}</b> still has {plural(region.locationCount, 'location')}:
          </Text>
          <NameList names={region.locations.map(({ name }) => name)} />
          <Text>Move or delete the locations first.</Text>
        </Stack>
      )}
      {region && !isBlocked && (
        <Stack gap="xs">
          <Text>
            <b>{region.name}</b> will be permanently deleted. Rooms and devices are not affected.
          </Text>
          {usersOfRegion.length > 0 && (
            <>
              <Text>The region is removed from {plural(usersOfRegion.length, 'person', 'people')}:</Text>
              <NameList names={usersOfRegion.map(({ email }) => email)} />
            </>
          )}
          <Text>
            Keys that are limited to this region lose it too. A person or key without another region then sees nothing.
          </Text>
        </Stack>
      )}
    </ConfirmDialog>
  )
}

interface DeleteLocationProps extends DeleteProps {
  readonly location: LocationNode | undefined
  readonly roomNames: readonly string[]
}

/** Rooms without a location are visible only to those who see all regions, so others must move them first. */
export function DeleteLocation({ location, roomNames, opened, onClose, onDeleted = onClose }: DeleteLocationProps) {
  const { allRegions } = useSession()
  const isBlocked = !allRegions && roomNames.length > 0
  const remove = useWrite('locationsDelete', { successText: 'Location deleted', onDone: onDeleted, quiet: true })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={isBlocked ? 'This location cannot be deleted yet' : 'Delete this location?'}
      verb="Delete location"
      blocked={isBlocked || !location}
      mutation={remove}
      onConfirm={() => location && remove.mutate({ input: { id: location.id } })}
    >
      {!location && <DeletedNotice isOwn={!remove.isIdle} />}
      {location && roomNames.length === 0 && (
        <Text>
          <b>{location.name}</b> has no rooms and will be permanently deleted.
        </Text>
      )}
      {location && isBlocked && (
        <Stack gap="xs">
          <Text>
            <b>{location.name}</b> still has {plural(roomNames.length, 'room')}:
          </Text>
          <NameList names={roomNames} />
          <Text>Choose another location for {roomNames.length === 1 ? 'the room' : 'the rooms'} first.</Text>
        </Stack>
      )}
      {location && !isBlocked && roomNames.length > 0 && (
        <Stack gap="xs">
          <Text>
            <b>{location.name}</b> will be permanently deleted. {plural(roomNames.length, 'room stays', 'rooms stay')}{' '}
            without a location:
          </Text>
          <NameList names={roomNames} />
          <Text>To choose another location, edit the {roomNames.length === 1 ? 'room' : 'rooms'}.</Text>
        </Stack>
      )}
    </ConfirmDialog>
  )
}
