// The three verdicts about a check.

export interface DeviceVerdict {
  /** never: the device did nothing that could be judged. */
  readonly state: 'right' | 'wrong' | 'never'
  /** The observation behind the verdict. Wrong and never always have one. */
  readonly seen?: string
}

export const right = (seen?: string): DeviceVerdict => ({ state: 'right', ...(seen !== undefined && { seen }) })
export const wrong = (seen: string): DeviceVerdict => ({ state: 'wrong', seen })
export const neverSeen = (seen: string): DeviceVerdict => ({ state: 'never', seen })
