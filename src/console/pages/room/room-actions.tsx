// What can be done with a room as a whole: change it, write on its screens, delete it.
import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import type { RoomSnapshot } from '../../domain/room/room.ts'
import { BinIcon, EditIcon, MessageIcon } from '../../parts/page/icons.tsx'
import { LoadingBoundary } from '../../parts/page/page.tsx'
import { DeleteRoom } from './delete-room.tsx'
import { EditRoom } from './edit-room.tsx'
import { MessageRoom } from './message-room.tsx'

export function RoomActions({ room, etag }: RoomSnapshot) {
  const [open, setOpen] = useState<'edit' | 'message' | 'delete'>()
  const close = () => setOpen(undefined)
  return (
    <>
      <Button
        variant="default"
        leftSection={<MessageIcon />}
        onClick={() => setOpen('message')}
        disabled={room.endpoints.length === 0}
      >
        Message
      </Button>
      <Button variant="default" leftSection={<EditIcon />} onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" c="var(--rk-offline)" leftSection={<BinIcon />} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      <Modal opened={open === 'edit'} onClose={close} title="Edit room">
        <LoadingBoundary>
          <EditRoom id={room.id} onClose={close} />
        </LoadingBoundary>
      </Modal>
      <Modal opened={open === 'message'} onClose={close} title="Message to all screens">
        <MessageRoom room={room} onClose={close} />
      </Modal>
      <DeleteRoom room={room} etag={etag} opened={open === 'delete'} onClose={close} />
    </>
  )
}
