// Offers the actions on a whole room: restart, send a message, silence, edit, delete.
import { Button, Menu, Modal } from '@mantine/core'
import { useState } from 'react'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { hasAction } from '../../domain/fleet/device/device.ts'
import type { RoomSnapshot } from '../../domain/fleet/room/room.ts'
import { SilenceButton } from '../../domain/incidents/silence/silence-button.tsx'
import { ActionsMenu } from '../../parts/page/actions-menu.tsx'
import { BinIcon, EditIcon, MessageIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { LoadingBoundary } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { DeleteRoom } from './delete-room.tsx'
import { EditRoom } from './edit-room.tsx'
import { RestartRoom } from './restart-room.tsx'
import { RoomMessageForm } from './room-message-form.tsx'

/** A restart, a message and a silence need Operate; the other actions need Write too. What no device of the room can do is not offered. */
export function RoomActions({ room, etag }: RoomSnapshot) {
  const { write } = usePermissions()
  const [openDialog, setOpenDialog] = useState<'restart' | 'edit' | 'message' | 'delete'>()
  const close = () => setOpenDialog(undefined)
  return (
    <>
      {room.endpoints.some((device) => hasAction(device, 'message')) && (
        <Button variant="default" leftSection={<MessageIcon />} onClick={() => setOpenDialog('message')}>
          Send message
        </Button>
      )}
      {room.endpoints.some((device) => hasAction(device, 'reboot')) && (
        <Button variant="default" leftSection={<RebootIcon />} onClick={() => setOpenDialog('restart')}>
          Restart room
        </Button>
      )}
      <SilenceButton place={{ roomId: room.id }} name={placedRoomName(room.name, room.location?.name)} />
      {write && (
        <>
          <Button variant="default" leftSection={<EditIcon />} onClick={() => setOpenDialog('edit')}>
            Edit
          </Button>
          <ActionsMenu label="More actions">
            <Menu.Item c="var(--rk-offline)" leftSection={<BinIcon />} onClick={() => setOpenDialog('delete')}>
              Delete room
            </Menu.Item>
          </ActionsMenu>
        </>
      )}
      <Modal opened={openDialog === 'edit'} onClose={close} title="Edit room">
        <LoadingBoundary>
          <EditRoom id={room.id} onClose={close} />
        </LoadingBoundary>
      </Modal>
      <Modal opened={openDialog === 'message'} onClose={close} title="Send message to all screens">
        <RoomMessageForm room={room} onClose={close} />
      </Modal>
      <RestartRoom room={room} opened={openDialog === 'restart'} onClose={close} />
      <DeleteRoom room={room} etag={etag} opened={openDialog === 'delete'} onClose={close} />
    </>
  )
}
