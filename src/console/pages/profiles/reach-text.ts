// Puts the reach of a profile into words.
import { plural } from '../../parts/text/words.ts'

interface ReachCounts {
  readonly roomCount: number
  readonly endpointCount: number
}

/** "64 devices in 24 rooms" */
export const reachText = ({ roomCount, endpointCount }: ReachCounts): string =>
  `${plural(endpointCount, 'device')} in ${plural(roomCount, 'room')}`

/** Says how many devices a save changes, for the dialogs that ask before it. */
export const savingText = (reach: ReachCounts): string =>
  reach.endpointCount === 0
    ? 'No device has this profile yet, so saving changes none.'
    : `Saving changes ${reachText(reach)}. Devices that are not connected apply the change when they reconnect.`
