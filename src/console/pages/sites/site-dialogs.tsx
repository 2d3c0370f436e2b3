// Holds the dialogs of the sites page mounted, so that the focus returns to the button that opened them.
import { Modal, Text } from '@mantine/core'
import type { Static } from 'typebox'
import type { RoomInList } from '../../../contract/fleet/rooms.ts'
import { SilenceDialog } from '../../domain/incidents/silence/silence-button.tsx'
import { LoadingBoundary } from '../../parts/page/page.tsx'
import { DeleteLocation, DeleteRegion } from './delete-site.tsx'
import { EditLocationForm, NewLocationForm } from './location-form.tsx'
import { EditRegionForm, NewRegionForm } from './region-form.tsx'
import type { SiteTask } from './site-tasks.ts'
import type { SiteTree } from './site-tree.ts'
import { locationsOf } from './use-site-tree.ts'

interface SiteDialogsProps {
  readonly task: SiteTask | undefined
  readonly opened: boolean
  readonly onClose: () => void
  readonly tree: SiteTree
  readonly rooms: readonly Static<typeof RoomInList>[]
  /** Leaves a page that shows what was deleted. */
  readonly onDeleted?: () => void
}

const titles: Partial<Record<SiteTask['kind'], string>> = {
  'new-region': 'New region',
  'edit-region': 'Edit region',
  'new-location': 'New location',
  'edit-location': 'Edit location',
}

export function SiteDialogs({ task, opened, onClose, tree, rooms, onDeleted }: SiteDialogsProps) {
  const kind = task?.kind
  const id = task && 'id' in task ? task.id : undefined
  const region = tree.regions.find((node) => node.id === id)
  const location = locationsOf(tree).find((node) => node.id === id)
  const title = kind && titles[kind]
  return (
    <>
      <Modal opened={opened && title !== undefined} onClose={onClose} title={title}>
        {kind === 'new-region' && <NewRegionForm onClose={onClose} />}
        {kind === 'edit-region' &&
          (region ? (
            <LoadingBoundary>
              <EditRegionForm id={region.id} onClose={onClose} />
            </LoadingBoundary>
          ) : (
            <DeletedNotice />
          ))}
        {kind === 'new-location' && (
          <NewLocationForm
            regionId={task && 'regionId' in task ? task.regionId : undefined}
            regions={tree.regions}
            onClose={onClose}
          />
        )}
        {kind === 'edit-location' &&
          (location ? (
            <LoadingBoundary>
              <EditLocationForm
                id={location.id}
                hasRooms={location.rooms > 0}
                regions={tree.regions}
                onClose={onClose}
              />
            </LoadingBoundary>
          ) : (
            <DeletedNotice />
          ))}
      </Modal>
      <SilenceDialog
        place={location && { locationId: location.id }}
        name={location?.name ?? ''}
        opened={opened && kind === 'silence-location' && location !== undefined}
        onClose={onClose}
      />
      <DeleteRegion
        region={region}
        opened={opened && kind === 'delete-region'}
        onClose={onClose}
        onDeleted={onDeleted}
      />
      <DeleteLocation
        location={location}
        roomNames={location ? rooms.filter((room) => room.location?.id === id).map(({ name }) => name) : []}
        opened={opened && kind === 'delete-location'}
        onClose={onClose}
        onDeleted={onDeleted}
      />
    </>
  )
}

const DeletedNotice = () => <Text>This site was deleted by someone else.</Text>
