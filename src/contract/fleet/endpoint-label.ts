// Names an endpoint for people. Everything that shows a device uses this name. [contract 5.1.label]
import { modelOf } from '../device/models.ts'
import { oneLine } from '../words.ts'

export interface LabelledEndpoint {
  /** The given name, or else the reported one. */
  readonly name?: string | null | undefined
  readonly model: string
  readonly serial: string
}

const serialCharacters = 6

/** "Bar at the window", or "Bar 431000" for a device without a name. Line breaks, control characters and marks of direction are left out, because devices report these texts. */
export function endpointLabel({ name, model, serial }: LabelledEndpoint): string {
  const shown = oneLine(name ?? '')
  if (hasVisibleCharacter.test(shown)) return shown
  return oneLine(`${modelOf(model).name} ${[...oneLine(serial)].slice(-serialCharacters).join('')}`)
}

/** "Frame", for texts that name the room of the device and in which only one device can be meant; undefined for a device with a name. */
export function modelLabel({ name, model }: LabelledEndpoint): string | undefined {
  return hasVisibleCharacter.test(oneLine(name ?? '')) ? undefined : oneLine(modelOf(model).name)
}

const hasVisibleCharacter = /[^\p{C}\p{Z}]/u
