// The result of one attempt to deliver a message.

export type Outcome =
  | { readonly isDelivered: true; readonly status: number | null; readonly note?: string }
  | {
      readonly isDelivered: false
      readonly status: number | null
      /** A few words, without anything of the receiver's answer. */
      readonly error: string
      readonly retryAfterMs?: number | undefined
      /** True if the receiver says that it does not exist any more. */
      readonly isGone?: boolean
    }
