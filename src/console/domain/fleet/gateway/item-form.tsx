// The form of a gateway's device: what the driver needs, a test with its result, and the room.
import { TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { RoomSelect } from '../room/room-select.tsx'
import { DriverFields } from './driver-fields.tsx'
import type { Gateway, GatewayDriver, GatewayItem } from './gateway.ts'
import { hasMoved, hasTarget, type ItemDraft, isSameTarget, itemTestBody, newItemDraft } from './item-draft.ts'
import { TestLine } from './test-line.tsx'
import { TestOutcome } from './test-outcome.tsx'

interface ItemFormProps {
  readonly gateway: Gateway | undefined
  readonly driver: GatewayDriver
  readonly initial: ItemDraft
  /** The stored device, in a form that changes one. */
  readonly item?: GatewayItem | undefined
  /** The room is given, because the form was opened there. */
  readonly isRoomFixed?: boolean
  /** The test runs when the form opens. */
  readonly startsWithTest?: boolean
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (draft: ItemDraft) => void
  readonly onCancel: () => void
  readonly onReload?: () => void
  readonly children?: ReactNode
}

export function ItemForm(props: ItemFormProps) {
  const { gateway, driver, initial, item, isRoomFixed = false, startsWithTest = false, onSubmit, children } = props
  const { isBusy, error, onCancel, onReload } = props
  const [draft, setDraft] = useState(initial)
  const isMoved = item !== undefined && hasMoved(driver, draft, item)
  const test = useDeviceTest({ gateway, driver, item })
  const isReady = hasTarget(driver, draft, item)
  const isOnline = gateway?.state === 'ONLINE'
  const start = useRef(test.run)
  useEffect(() => {
    if (startsWithTest) start.current(initial)
  }, [startsWithTest, initial])
  const change = (next: ItemDraft) => setDraft(withoutOtherCertificate(driver, draft, next))
  const trust = (fingerprint: string) => {
    const trusting = { ...draft, fingerprint }
    setDraft(trusting)
    test.run(trusting)
  }
  const result = test.resultOf(draft)
  return (
    <DialogForm
      verb="Save"
      canSubmit={isReady && draft.roomId !== null}
      onSubmit={() => onSubmit(draft)}
      {...{ isBusy, error, onCancel }}
      {...(onReload && { onReload })}
    >
      {children}
      <DriverFields {...{ driver, draft, item, isMoved }} onChange={change} />
      {isMoved && item.secrets.length > 0 && (
        <Notice tone="warning">
          The address or the way to sign in has changed, so the stored password
          {item.fingerprint !== undefined && ' and the trusted certificate'} will be deleted. Enter the password again.
        </Notice>
      )}
      <TestLine test={test} canRun={isReady && isOnline} onRun={() => test.run(draft)}>
        {!isOnline
          ? 'The gateway is offline. You can save the device; the gateway tries it when it is back.'
          : test.isPending
            ? 'The gateway tries the device now. This takes up to 20 seconds.'
            : result === undefined && 'The gateway tries the device and says what it found.'}
      </TestLine>
      {result && (
        <TestOutcome
          result={result}
          expected={draft.fingerprint ?? (isMoved ? undefined : item?.fingerprint)}
          onTrust={trust}
        />
      )}
      {!isRoomFixed && (
        <RoomSelect
          label="Room"
          value={draft.roomId}
          onChange={(roomId) => setDraft({ ...draft, roomId })}
          description={item?.endpointId === undefined ? undefined : 'Another room moves the device.'}
          required
        />
      )}
      {item?.endpointId === undefined && (
        <TextInput
          label="Name"
          description="Optional. Without a name, model and serial number are shown."
          value={draft.name}
          onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          maxLength={maxNameLength}
          autoComplete="off"
        />
      )}
    </DialogForm>
  )
}

/** A certificate is trusted for one address only. */
function withoutOtherCertificate(driver: GatewayDriver, before: ItemDraft, after: ItemDraft): ItemDraft {
  const isSame = driver.fields.every(
    ({ bindsSecrets, name }) => !bindsSecrets || before.values[name] === after.values[name],
  )
  return isSame ? after : { ...after, fingerprint: undefined }
}

/** The result counts for the values that were tested, until they change. */
function useDeviceTest({ gateway, driver, item }: Pick<ItemFormProps, 'gateway' | 'driver' | 'item'>) {
  const [tested, setTested] = useState<ItemDraft>(() => newItemDraft(driver, null))
  const { mutate, data, error, isPending } = useWrite('gatewayDevicesTest', { quiet: true, changesNothing: true })
  const run = (draft: ItemDraft) => {
    if (!gateway) return
    setTested(draft)
    mutate({ input: { id: gateway.id, body: itemTestBody(driver, draft, item) } })
  }
  const resultOf = (draft: ItemDraft) => (!isPending && isSameTarget(tested, draft) ? data : undefined)
  return { run, resultOf, error, isPending }
}
