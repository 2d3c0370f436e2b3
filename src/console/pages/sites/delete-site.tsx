// Deleting a region or a location: what will happen, or why it cannot, before anything does. [interface 12] [interface 15]
import { List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { operationQuery, useWrite } from '../../api.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { plural } from '../../parts/text/words.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'

interface DeleteProps {
  readonly opened: boolean
  readonly onClose: () => void
}

/** The list may know it before the dialog has closed. */
const Gone = ({ isOwn }: { readonly isOwn: boolean }) => (
  <Text>{isOwn ? 'It is deleted.' : 'Somebody else has deleted it already.'}</Text>
)

const mostNamed = 5

const Named = ({ names }: { readonly names: readonly string[] }) => (
  <List fz="sm" style={{ overflowWrap: 'anywhere' }}>
    {names.slice(0, mostNamed).map((name, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: names repeat, and the list does not move
      <List.Item key={index}>{name}</List.Item>
    ))}
    {names.length > mostNamed && <List.Item>and {names.length - mostNamed} more</List.Item>}
  </List>
)

export function DeleteRegion({ region, opened, onClose }: DeleteProps & { readonly region: RegionNode | undefined }) {
  const remove = useWrite('regionsDelete', { successText: 'The region was deleted.', onDone: onClose, quiet: true })
  const users = useQuery({ ...operationQuery('usersList'), enabled: opened }).data?.body.users
  const admins = users?.filter(({ regionIds }) => region && regionIds.includes(region.id)) ?? []
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
      {!region && <Gone isOwn={!remove.isIdle} />}
      {region && isBlocked && (
        <Stack gap="xs">
          <Text>
            <b>{region.name}</b> still has {plural(region.locationCount, 'location')}:
          </Text>
          <Named names={region.locations.map(({ name }) => name)} />
          <Text>
            Move {region.locationCount === 1 ? 'it' : 'them'} to another region or to none, or delete{' '}
            {region.locationCount === 1 ? 'it' : 'them'}. Then the region can be deleted.
          </Text>
        </Stack>
      )}
      {region && !isBlocked && (
        <Stack gap="xs">
          <Text>
            <b>{region.name}</b> has no locations. It will be gone for good; no room and no device is touched.
          </Text>
          {admins.length > 0 && (
            <>
              <Text>It is taken from {plural(admins.length, 'user')} who looked after it:</Text>
              <Named names={admins.map(({ email }) => email)} />
            </>
          )}
        </Stack>
      )}
    </ConfirmDialog>
  )
}

interface DeleteLocationProps extends DeleteProps {
  readonly location: LocationNode | undefined
  readonly roomNames: readonly string[]
}

export function DeleteLocation({ location, roomNames, opened, onClose }: DeleteLocationProps) {
  const remove = useWrite('locationsDelete', { successText: 'The location was deleted.', onDone: onClose, quiet: true })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Delete this location?"
      verb="Delete location"
      blocked={!location}
      mutation={remove}
      onConfirm={() => location && remove.mutate({ input: { id: location.id } })}
    >
      {!location && <Gone isOwn={!remove.isIdle} />}
      {location && roomNames.length === 0 && (
        <Text>
          <b>{location.name}</b> has no rooms. It will be gone for good.
        </Text>
      )}
      {location && roomNames.length > 0 && (
        <Stack gap="xs">
          <Text>
            <b>{location.name}</b> has {plural(roomNames.length, 'room')}.{' '}
            {roomNames.length === 1 ? 'It stays' : 'They stay'}, with all devices, but without a location:
          </Text>
          <Named names={roomNames} />
          <Text>
            {roomNames.length === 1
              ? 'To give it another place, change its location on its own page.'
              : 'To give them another place, change the location of each on its own page.'}
          </Text>
        </Stack>
      )}
    </ConfirmDialog>
  )
}
