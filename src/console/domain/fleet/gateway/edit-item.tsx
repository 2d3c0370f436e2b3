// Changes a gateway's device in a dialog.
import { Modal, Text } from '@mantine/core'
import { useMemo } from 'react'
import { oneLine } from '../../../../contract/words.ts'
import { useBody, useWrite } from '../../../api.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import type { GatewayDriver, GatewayItem } from './gateway.ts'
import { itemName } from './gateway.ts'
import { type ItemDraft, itemDraftOf, itemUpdateBody } from './item-draft.ts'
import { ItemForm } from './item-form.tsx'
import { ItemState } from './item-state.tsx'

interface EditItemProps {
  readonly item: GatewayItem
  /** The test runs when the dialog opens, to show the certificate that the device has now. */
  readonly startsWithTest: boolean
  readonly opened: boolean
  readonly onClose: () => void
}

export const EditItem = ({ item, startsWithTest, opened, onClose }: EditItemProps) => (
  <Modal
    opened={opened}
    onClose={onClose}
    title={`Edit ${oneLine(itemName(item))}`}
    size="lg"
    closeOnClickOutside={false}
  >
    <LoadingBoundary>
      <EditItemForm gatewayId={item.gatewayId} itemId={item.id} startsWithTest={startsWithTest} onClose={onClose} />
    </LoadingBoundary>
  </Modal>
)

interface EditItemFormProps {
  readonly gatewayId: string
  readonly itemId: string
  readonly startsWithTest?: boolean
  readonly onClose: () => void
}

export function EditItemForm({ gatewayId, itemId, startsWithTest = false, onClose }: EditItemFormProps) {
  const input = { id: gatewayId, deviceId: itemId }
  const { seen, now, reload } = useBaseline('gatewayDevicesGet', input)
  const driver = useBody('driversList').drivers.find(({ id }) => id === seen.body.driver)
  const gateway = useBody('gatewaysList').gateways.find(({ id }) => id === gatewayId)
  const update = useWrite('gatewayDevicesUpdate', {
    quiet: true,
    successText: 'Saved. The gateway tries the device now.',
    onDone: onClose,
  })
  if (!driver) return <Text>This page does not know the driver {seen.body.driver}. Reload it.</Text>
  const save = (draft: ItemDraft) =>
    update.mutate({ input: { ...input, body: itemUpdateBody(driver, draft, seen.body) }, ifMatch: seen.etag })
  return (
    <SeenItemForm
      key={seen.etag}
      {...{ gateway, driver, startsWithTest }}
      item={seen.body}
      now={now.body}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={save}
      onCancel={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

type SeenItemFormProps = Omit<Parameters<typeof ItemForm>[0], 'initial' | 'item' | 'children'> & {
  readonly driver: GatewayDriver
  readonly item: GatewayItem
  /** The present state of the device. */
  readonly now: GatewayItem
}

function SeenItemForm({ now, ...form }: SeenItemFormProps) {
  const { item, driver } = form
  const initial = useMemo(() => itemDraftOf(item, driver), [item, driver])
  return (
    <ItemForm {...form} initial={initial}>
      <div>
        <Text fz="sm" c="dimmed">
          {driver.name}
        </Text>
        <ItemState item={now} />
      </div>
    </ItemForm>
  )
}
