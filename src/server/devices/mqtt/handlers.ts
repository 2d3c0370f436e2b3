// What the link asks of the nouns; app.ts joins them. The link itself knows messages and connections only.
import type { DownKind, DownMessage, UpKind, UpMessage } from '../../../contract/device.ts'
import type { Org } from '../../auth/keyring.ts'

/** The endpoint at the other end of a connection. */
export interface Device {
  readonly org: Org
  readonly id: string
  /** Stands for it where its samples are kept. */
  readonly number: number
  readonly serial: string
  readonly model: string
}

/** One connection of a device. */
export interface Session {
  readonly device: Device
  /** When it connected, in milliseconds. */
  readonly since: number
  /** What it proved itself with. */
  readonly credential: string
}

/** The durable presence of a connected device. */
export interface Presence {
  /** False if no config and no command waits for the device: then none does before `Devices.wake` is called for it. */
  readonly mayHavePending: boolean
}

/** Resolves when what was received is durable; what it resolves to is sent down. */
type Received<K extends UpKind> = (session: Session, message: UpMessage<K>) => Promise<readonly DownMessage[]>

export interface DeviceHandlers {
  /** Who holds this credential; undefined if it is dead. */
  identify(endpointId: string, credential: string): Promise<Device | undefined>
  /** Resolves when its presence is durable; undefined if the credential died meanwhile. */
  connected(session: Session): Promise<Presence | undefined>
  disconnected(session: Session): Promise<void>
  /**
   * What waits for the device, of what it listens to: it counts as sent. Asked when it subscribes, and whenever it is
   * woken.
   */
  waiting(session: Session, listensTo: (kind: DownKind) => boolean): Promise<readonly DownMessage[]>
  readonly received: { readonly [K in UpKind]: Received<K> }
}
