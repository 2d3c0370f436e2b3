// Reads the options of an item: a value that the driver does not know is refused with a sentence.
import { DriverFailure, type DriverItem } from '../driver.ts'

/** An empty text is as good as none. */
export const textOption = (item: DriverItem, name: string): string | undefined => {
  const value = item.options[name]
  return value === undefined || value === '' ? undefined : String(value).trim()
}

/** Absent and empty count as off. */
export function switchOption(item: DriverItem, name: string): boolean {
  return choiceOption(item, name, ['true', 'false'], 'false') === 'true'
}

export function choiceOption<const V extends readonly string[]>(
  item: DriverItem,
  name: string,
  values: V,
  usual: V[number],
): V[number] {
  const value = textOption(item, name) ?? usual
  if (!values.includes(value)) {
    throw new DriverFailure('UNSUPPORTED', `The option ${name} cannot be "${value}". Use ${values.join(', ')}.`)
  }
  return value
}

export function numberOption(
  item: DriverItem,
  name: string,
  { min, max, usual }: { readonly min: number; readonly max: number; readonly usual: number },
): number {
  const value = Number(textOption(item, name) ?? usual)
  if (!(value >= min && value <= max)) {
    throw new DriverFailure('UNSUPPORTED', `The option ${name} must be a number from ${min} to ${max}.`)
  }
  return value
}
