// The reason why an MQTT session ended: a sentence for the log, and the word that the connection history shows.
import type { ConnectionEnd } from '../../../../contract/fleet/connections.ts'
import { type EndingReason, type ReasonCode, reasonCodes } from '../packets/reasons.ts'

const endOfReason: { readonly [R in EndingReason]: ConnectionEnd } = {
  replaced: 'REPLACED',
  unenrolled: 'UNENROLLED',
  released: 'RELEASED',
  'database away': 'SERVER_ENDED',
  'shutting down': 'SERVER_ENDED',
}

/** The first reason that was noted stays: the later ones follow from it. */
export class SessionEnd {
  /** Undefined if the device closed its connection without DISCONNECT. */
  reason: string | undefined
  why: ConnectionEnd = 'LOST'

  note(reason: string, why: ConnectionEnd): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.why = why
  }

  noteEnding(reason: EndingReason): void {
    this.note(reason, endOfReason[reason])
  }

  /** Notes the end of a connection that fails with a reason code of MQTT 5. */
  noteFailure(reason: string, code: ReasonCode): void {
    if (code === reasonCodes.keepAliveTimeout) this.note(reason, 'LOST')
    // The service could not store a message, and the device is not to blame.
    else if (code === reasonCodes.serverBusy) this.note(reason, 'SERVER_ENDED')
    else this.note(reason, 'REFUSED')
  }
}
