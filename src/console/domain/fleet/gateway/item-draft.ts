// The values of the form of a gateway's device, and the request bodies that they make. The fields come from the driver. [contract 13.items]
import type { CallInput } from '../../../../client/client.ts'
import type { DriverField } from '../../../../contract/fleet/drivers.ts'
import type { GatewayDriver, GatewayItem } from './gateway.ts'

type FieldValue = string | number | boolean

export interface ItemDraft {
  /** By the name of the field. An empty text is no value, or the stored one for a secret. */
  readonly values: Readonly<Record<string, FieldValue>>
  /** The secrets to delete. */
  readonly cleared: readonly string[]
  readonly roomId: string | null
  readonly name: string
  /** The certificate that the person trusts, if they chose one in this form. */
  readonly fingerprint: string | undefined
}

export const newItemDraft = (driver: GatewayDriver, roomId: string | null): ItemDraft => ({
  values: Object.fromEntries(driver.fields.map((field) => [field.name, emptyValue(field)])),
  cleared: [],
  roomId,
  name: '',
  fingerprint: undefined,
})

export const itemDraftOf = (item: GatewayItem, driver: GatewayDriver): ItemDraft => ({
  values: Object.fromEntries(driver.fields.map((field) => [field.name, storedValue(field, item)])),
  cleared: [],
  roomId: item.roomId === undefined ? null : String(item.roomId),
  name: item.name ?? '',
  fingerprint: undefined,
})

/** The default of a number is the placeholder of its field. */
const emptyValue = ({ type, default: value = '' }: DriverField): FieldValue => (type === 'NUMBER' ? '' : value)

function storedValue(field: DriverField, item: GatewayItem): FieldValue {
  if (field.secret) return ''
  const stored = field.isOption ? item.options[field.name] : item[field.name as 'host' | 'port' | 'username']
  return stored === undefined || stored === field.default ? emptyValue(field) : stored
}

/** Fields that have a meaning with the present options. */
export const shownFields = (driver: GatewayDriver, { values }: ItemDraft): DriverField[] =>
  driver.fields.filter(({ onlyIf }) => !onlyIf || onlyIf.values.includes(String(values[onlyIf.option])))

/** Options whose defaults fit most devices, and on which no other field depends. */
export const isSeldomChanged = (
  { name, isOption, onlyIf, default: value }: DriverField,
  driver: GatewayDriver,
): boolean =>
  isOption && value !== undefined && !onlyIf && !driver.fields.some((other) => other.onlyIf?.option === name)

/** A change of these values deletes the stored secrets and the trusted certificate. [contract 13.secrets] */
export const hasMoved = (driver: GatewayDriver, draft: ItemDraft, item: GatewayItem): boolean =>
  driver.fields.some(
    (field) =>
      field.bindsSecrets &&
      effectiveText(field, draft.values[field.name]) !== effectiveText(field, storedValue(field, item)),
  )

/** Whether two drafts lead to the same device in the same way, so a test of one counts for the other. */
export const isSameTarget = (a: ItemDraft, b: ItemDraft): boolean =>
  a.fingerprint === b.fingerprint && JSON.stringify([a.values, a.cleared]) === JSON.stringify([b.values, b.cleared])

/** Whether a secret that the item has stays as it is. */
export const keepsSecret = (name: string, draft: ItemDraft, item: GatewayItem | undefined, isMoved: boolean): boolean =>
  item !== undefined && !isMoved && item.secrets.includes(name) && !draft.cleared.includes(name)

/** Whether the device can be tested: every field that the driver needs has a value. */
export const hasTarget = (driver: GatewayDriver, draft: ItemDraft, item?: GatewayItem): boolean => {
  const isMoved = item !== undefined && hasMoved(driver, draft, item)
  return shownFields(driver, draft).every(
    (field) =>
      !field.required ||
      shownText(draft.values[field.name]) !== '' ||
      (field.secret && keepsSecret(field.name, draft, item, isMoved)),
  )
}

const effectiveText = ({ default: value = '' }: DriverField, entered: FieldValue | undefined): string =>
  shownText(entered) || String(value)
const shownText = (value: FieldValue | undefined): string => String(value ?? '').trim()

type TargetBody = Omit<CallInput<'gatewayDevicesCreate'>['body'], 'roomId' | 'name'>

/** Without empty secrets: they keep what is stored. An empty field of another kind restores the default. */
function targetBody(driver: GatewayDriver, draft: ItemDraft): TargetBody {
  const fields: Record<string, FieldValue | null> = {}
  const options: Record<string, FieldValue | null> = {}
  for (const field of shownFields(driver, draft)) {
    const { name, isOption, secret, type } = field
    const value = draft.values[name] ?? ''
    const sent = type === 'TEXT' && !secret ? shownText(value) : value
    const to = isOption ? options : fields
    if (sent !== '') to[name] = sent
    else if (draft.cleared.includes(name) || !secret) to[name] = null
  }
  return {
    driver: driver.id,
    ...(fields as Pick<TargetBody, 'host'>),
    ...(Object.keys(options).length > 0 && { options }),
    ...(draft.fingerprint !== undefined && { fingerprint: draft.fingerprint }),
  }
}

export const itemCreateBody = (driver: GatewayDriver, draft: ItemDraft): CallInput<'gatewayDevicesCreate'>['body'] => ({
  ...targetBody(driver, draft),
  roomId: Number(draft.roomId),
  ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
})

/** An item that enrolled has its name from the endpoint. */
export const itemUpdateBody = (
  driver: GatewayDriver,
  draft: ItemDraft,
  item: GatewayItem,
): CallInput<'gatewayDevicesUpdate'>['body'] => ({
  ...targetBody(driver, draft),
  ...(draft.roomId !== null && Number(draft.roomId) !== item.roomId && { roomId: Number(draft.roomId) }),
  ...(item.endpointId === undefined && { name: draft.name.trim() || null }),
})

/** The stored secrets are tried at the stored address only, so another address is tested as a new device. */
export const itemTestBody = (
  driver: GatewayDriver,
  draft: ItemDraft,
  item?: GatewayItem,
): CallInput<'gatewayDevicesTest'>['body'] => ({
  ...targetBody(driver, draft),
  ...(item && !hasMoved(driver, draft, item) && { deviceId: item.id }),
})
