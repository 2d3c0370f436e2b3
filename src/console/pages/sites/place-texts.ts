// The change window and the time zone of a location in words.
import type { ListedLocation } from '../../domain/fleet/site/sites.ts'
import { weeklyText } from '../../domain/incidents/silence/silence.ts'

/** Undefined if changes run at any time. */
export const windowText = ({ changeWindow }: Pick<ListedLocation, 'changeWindow'>): string | undefined =>
  changeWindow && weeklyText(changeWindow)

/** "Mon to Thu, 20:00 to 05:00" or "Any time". */
export const windowName = (location: Pick<ListedLocation, 'changeWindow'>): string => windowText(location) ?? 'Any time'
