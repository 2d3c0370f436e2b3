// The action of a job: who may do it, which devices it waits for, and how its passwords are stored. [contract 12.job]

import { configKeys, type DeviceConfigBody } from '../../contract/device/config-keys.ts'
import { type JobActionType, jobActions } from '../../contract/jobs/action-table.ts'
import { permissionDenied } from '../auth/failures.ts'
import type { Org } from '../auth/token-holder.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Secrets } from '../core/secrets.ts'
import { deviceKeys } from '../fleet/configs/device-keys.ts'
import { canDo, inabilityTexts, type ProfiledDevice, takesProfile } from '../fleet/endpoints/device-actions.ts'
import { type Action, actionOfJob, type JobRow } from './rows.ts'

interface PresentDevice {
  readonly connected: number
  /** The state of the endpoint. */
  readonly presence: string | null
}

/** Whether the action skips the endpoint because its device is asleep. */
export const isSkippedAsleep = (type: JobActionType, { presence }: Pick<PresentDevice, 'presence'>): boolean =>
  jobActions[type].skipsAsleep && presence === 'ASLEEP'

/** Whether a unit has to wait because of endpoints that are offline. */
export function waitsForConnection(type: JobActionType, endpoints: readonly PresentDevice[]): boolean {
  const isOffline = ({ connected }: PresentDevice) => connected === 0
  const awaited = endpoints.filter((endpoint) => !isSkippedAsleep(type, endpoint))
  switch (jobActions[type].connection) {
    case 'all':
      return awaited.some(isOffline)
    case 'any':
      return awaited.every(isOffline)
    case 'none':
      return false
  }
}

type AbleDevice = ProfiledDevice & { readonly config_keys: string | null }

/** Whether the device can do the action, and has one of the settings of a config. [contract 5.1.actions] [contract 5.3.keys] */
export function isAble({ type, config }: Pick<Action, 'type' | 'config'>, device: AbleDevice): boolean {
  const { requires } = jobActions[type]
  const isUnable = requires === 'profile' ? !takesProfile(device) : requires !== null && !canDo(device, requires)
  if (isUnable) return false
  return config === undefined || Object.keys(config).some(deviceKeys(device.config_keys))
}

/** Says why a device, or a room with such devices only, is skipped. */
export function inabilityText({ type, config }: Pick<Action, 'type' | 'config'>): string {
  if (config !== undefined) return 'The device does not have these settings.'
  const { requires } = jobActions[type]
  return requires === null ? '' : inabilityTexts[requires]
}

/** [contract 12.rights] */
export function requireScopeFor(ctx: RequestContext, type: JobActionType): void {
  const { needs } = jobActions[type]
  if (!ctx.may(needs)) throw permissionDenied(ctx, needs, undefined, `, which a job of the type ${type} needs`)
}

interface StoredAction {
  /** JSON without the values of passwords. */
  readonly action: string
  /** JSON of the sealed passwords, base64. */
  readonly secrets: string
}

const mask = '***'
/** Passwords are bound to this context. */
export const jobContext = (org: Org, id: number): string => `job/${org.id}/${id}`
const isPassword = (name: string, value: unknown) => configKeys[name]?.secret === true && typeof value === 'string'

/** Seals the passwords of a config. They are bound to the job, so that they cannot be moved to another one. */
export function sealAction(action: Action, secrets: Secrets, org: Org, id: number): StoredAction {
  const sealed = Object.entries(action.config ?? {})
    .filter(([name, value]) => isPassword(name, value))
    .map(([name, value]) => [name, secrets.seal(String(value), jobContext(org, id)).toString('base64')])
  return { action: JSON.stringify(maskAction(action)), secrets: JSON.stringify(Object.fromEntries(sealed)) }
}

/** Replaces the passwords of a config, for the audit log. */
export function maskAction(action: Action): Action {
  if (!action.config) return action
  const shown = Object.entries(action.config).map(([name, value]) => [name, isPassword(name, value) ? mask : value])
  return { ...action, config: Object.fromEntries(shown) }
}

/** Leaves out passwords, for answers: a client that sends a mask back would set it as the password. */
export function shownAction(action: Action): Action {
  if (!action.config) return action
  return {
    ...action,
    config: Object.fromEntries(Object.entries(action.config).filter(([name, value]) => !isPassword(name, value))),
  }
}

/** Includes the passwords in plain text, so the result may only be used to make a config. */
export function openAction(row: Pick<JobRow, 'id' | 'action' | 'secrets'>, secrets: Secrets, org: Org): Action {
  const action = actionOfJob(row)
  if (!action.config) return action
  const config: DeviceConfigBody = { ...action.config }
  for (const [name, sealed] of Object.entries<string>(JSON.parse(row.secrets))) {
    config[name] = secrets.unseal(Buffer.from(sealed, 'base64'), jobContext(org, row.id))
  }
  return { ...action, config }
}
