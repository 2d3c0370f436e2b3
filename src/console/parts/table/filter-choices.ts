// The choices of a filter: which of them its list shows, and what its chip says about the chosen ones.
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import type { FilterValue } from './filter-value.ts'

export interface FilterChoice {
  readonly value: string
  readonly label: string
}

/** Names a chosen value that is not among the choices. */
export type MissingLabel = (value: string) => string

/** A bookmarked address can name something that has been deleted. */
export const deletedLabel: MissingLabel = () => 'Deleted'
/** For values that name themselves, such as tags: no row has the value at present. */
export const ownLabel: MissingLabel = (value) => value

/** The choices, and the chosen values that are missing among them if these can be named. */
export const withMissing = (
  choices: readonly FilterChoice[],
  { values }: FilterValue,
  missingLabel: MissingLabel | undefined,
): readonly FilterChoice[] => {
  if (missingLabel === undefined || values.length === 0) return choices
  const known = new Set(choices.map(({ value }) => value))
  const missing = values.filter((value) => !known.has(value))
  return [...choices, ...missing.map((value) => ({ value, label: missingLabel(value) }))]
}

/** Without values that are not among the choices: a mistyped address filters nothing. */
export const withoutUnknown = (filter: FilterValue, choices: readonly FilterChoice[]): FilterValue => ({
  ...filter,
  values: filter.values.filter((value) => choices.some((choice) => choice.value === value)),
})

/** A list with more choices is searched, not scrolled. */
export const maxShown = 300

/**
 * The choices with all words of the query. If there are too many, chosen ones that would be cut come first, so they can be taken back.
 * The others keep their order while choices are made: the keyboard moves by index.
 */
export function shownChoices(
  choices: readonly FilterChoice[],
  { values }: FilterValue,
  query: string,
): readonly FilterChoice[] {
  const words = searchWords(query)
  const found = words.length === 0 ? choices : choices.filter(({ label }) => includesAll(normalizeText(label), words))
  if (found.length <= maxShown) return found
  return [...found.slice(maxShown).filter(({ value }) => values.includes(value)), ...found.slice(0, maxShown)]
}

/** "Nordics or UK", "not Healthy", "Oslo, Bergen and 3 more" */
export function chosenText({ values, isNot }: FilterValue, choices: readonly FilterChoice[]): string | undefined {
  if (values.length === 0) return undefined
  const labels = choices.filter(({ value }) => values.includes(value)).map(({ label }) => label)
  const text =
    labels.length > 3 ? `${labels.slice(0, 2).join(', ')} and ${labels.length - 2} more` : labels.join(' or ')
  return isNot ? `not ${text}` : text
}
