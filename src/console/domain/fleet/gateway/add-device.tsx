// Adds a device to a gateway in a dialog: driver, address, test, room; and then shows what becomes of it.
import { Button, Group, Modal, Radio, Select, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { useBody, useWrite } from '../../../api.ts'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, LoadingBoundary } from '../../../parts/page/page.tsx'
import { usePermissions } from '../../../session.ts'
import type { RoomDetails } from '../room/room.ts'
import { RoomName } from '../site/room-link.tsx'
import { EditItemForm } from './edit-item.tsx'
import classes from './gateway.module.css'
import { type Gateway, type GatewayDriver, gatewayLabel, itemName } from './gateway.ts'
import { type ItemDraft, itemCreateBody, newItemDraft } from './item-draft.ts'
import { ItemForm } from './item-form.tsx'
import { ItemState } from './item-state.tsx'

interface AddDeviceProps {
  /** The gateway is given, because the dialog was opened there. */
  readonly gatewayId?: string
  /** The room is given, because the dialog was opened there. */
  readonly room?: RoomDetails
}

/** Renders nothing without write access. */
export function AddDeviceButton({ onClick }: { readonly onClick: () => void }) {
  const { write } = usePermissions()
  if (!write) return null
  return (
    <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={onClick}>
      Add device
    </Button>
  )
}

interface AddDeviceDialogProps extends AddDeviceProps {
  readonly opened: boolean
  readonly onClose: () => void
}

/** Separate from its button, because a page can move the button while the dialog is open. A click outside does not close it: entries would be lost. */
export const AddDeviceDialog = ({ opened, onClose, ...preset }: AddDeviceDialogProps) => (
  <Modal
    opened={opened}
    onClose={onClose}
    title={preset.room ? `Add device to ${placedRoomName(preset.room.name, preset.room.location?.name)}` : 'Add device'}
    size="lg"
    closeOnClickOutside={false}
  >
    <LoadingBoundary>
      <AddDevice {...preset} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

interface AddedItem {
  readonly gatewayId: string
  readonly itemId: string
}

function AddDevice({ gatewayId, room, onClose }: AddDeviceProps & { readonly onClose: () => void }) {
  const { gateways } = useBody('gatewaysList')
  const { drivers } = useBody('driversList')
  const [added, setAdded] = useState<AddedItem>()
  if (added) return <AddedDevice {...added} onAddAnother={() => setAdded(undefined)} onClose={onClose} />
  if (gateways.length === 0) return <NoGateway onClose={onClose} />
  return (
    <NewItem
      gateways={gatewayId === undefined ? gateways : gateways.filter(({ id }) => id === gatewayId)}
      drivers={drivers}
      room={room}
      onAdded={setAdded}
      onClose={onClose}
    />
  )
}

const NoGateway = ({ onClose }: { readonly onClose: () => void }) => (
  <EmptyState title="There is no gateway yet">
    <p>
      A gateway is a small program in the network of the devices. It manages codecs, projectors, switches and other
      devices that do not speak the protocol of Roomkeeper.
    </p>
    <Button renderRoot={(props) => <Link {...props} to="/settings" search={{ tab: 'gateways' }} />} onClick={onClose}>
      Set up a gateway
    </Button>
  </EmptyState>
)

interface NewItemProps {
  readonly gateways: readonly Gateway[]
  readonly drivers: readonly GatewayDriver[]
  readonly room: RoomDetails | undefined
  readonly onAdded: (item: AddedItem) => void
  readonly onClose: () => void
}

function NewItem({ gateways, drivers, room, onAdded, onClose }: NewItemProps) {
  const [gateway, setGateway] = useState(() => nearestGateway(gateways, room))
  const [driver, setDriver] = useState<GatewayDriver>()
  const create = useWrite('gatewayDevicesCreate', {
    quiet: true,
    onDone: ({ id, gatewayId }) => onAdded({ gatewayId, itemId: id }),
  })
  const save = (draft: ItemDraft) =>
    gateway && driver && create.mutate({ input: { id: gateway.id, body: itemCreateBody(driver, draft) } })
  const choices = (
    <>
      {gateways.length > 1 && (
        <Select
          label="Gateway"
          data={gateways.map((one) => ({ value: one.id, label: gatewayLabel(one) }))}
          value={gateway?.id ?? null}
          onChange={(id) => setGateway(gateways.find((one) => one.id === id))}
          allowDeselect={false}
          searchable
          nothingFoundMessage="No matches"
        />
      )}
      <Radio.Group
        label="What is it?"
        value={driver?.id ?? null}
        onChange={(id) => setDriver(drivers.find((one) => one.id === id))}
      >
        <div className={classes.drivers}>
          {drivers.map((one) => (
            <Radio
              key={one.id}
              className={classes.driver ?? ''}
              classNames={{ description: classes.driverText ?? '' }}
              data-checked={one.id === driver?.id || undefined}
              value={one.id}
              label={one.name}
              description={one.manages}
            />
          ))}
        </div>
      </Radio.Group>
    </>
  )
  if (!driver) {
    return (
      <Stack>
        {choices}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    )
  }
  return (
    <ItemForm
      key={driver.id}
      gateway={gateways.find(({ id }) => id === gateway?.id)}
      driver={driver}
      initial={newItemDraft(driver, room ? String(room.id) : null)}
      isRoomFixed={room !== undefined}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={save}
      onCancel={onClose}
    >
      {choices}
    </ItemForm>
  )
}

/** The gateway of the room or of its location, else one that is online. */
function nearestGateway(gateways: readonly Gateway[], room: RoomDetails | undefined): Gateway | undefined {
  const online = gateways.filter(({ state }) => state === 'ONLINE')
  return (
    [...online, ...gateways].find(({ roomId }) => room !== undefined && roomId === room.id) ??
    [...online, ...gateways].find(({ locationId }) => room?.location && locationId === room.location.id) ??
    online[0] ??
    gateways[0]
  )
}

interface AddedDeviceProps extends AddedItem {
  readonly onAddAnother: () => void
  readonly onClose: () => void
}

/** Stays open until the person has seen whether the gateway reaches the device. Events update it. */
function AddedDevice({ gatewayId, itemId, onAddAnother, onClose }: AddedDeviceProps) {
  const item = useBody('gatewayDevicesGet', { id: gatewayId, deviceId: itemId })
  const [isEditing, edit] = useDisclosure(false)
  if (isEditing) return <EditItemForm gatewayId={gatewayId} itemId={itemId} onClose={edit.close} />
  const hasFailed = item.state !== 'NEW' && item.state !== 'CONNECTED'
  return (
    <Stack>
      <Text>
        {itemName(item)} was added
        {item.roomName !== undefined && (
          <>
            {' '}
            to{' '}
            <strong>
              <RoomName roomId={item.roomId} roomName={item.roomName} />
            </strong>
          </>
        )}
        .
      </Text>
      <div role="status">
        <ItemState item={item} />
      </div>
      <Group justify="flex-end" gap="xs">
        {hasFailed && (
          <Button variant="default" onClick={edit.open}>
            Edit
          </Button>
        )}
        {item.endpointId !== undefined && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link {...props} to="/devices/$endpointId" params={{ endpointId: item.endpointId ?? '' }} />
            )}
            onClick={onClose}
          >
            View device
          </Button>
        )}
        <Button variant="default" onClick={onAddAnother}>
          Add another
        </Button>
        <Button onClick={onClose} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
