// A part of a connection strip in words: "Offline for 41 min, connection lost".

import { durationText } from '../../../../contract/duration-text.ts'
import type { ConnectionEnd } from '../../../../contract/fleet/connections.ts'
import { capitalised } from '../../../../contract/words.ts'
import type { StripPart } from './strip.ts'

const reasons: Readonly<Record<ConnectionEnd, string>> = {
  DISCONNECTED: 'the device disconnected',
  LOST: 'connection lost',
  REPLACED: 'the device connected again',
  REFUSED: 'the server closed the connection',
  UNENROLLED: 'the device was unenrolled',
  RELEASED: 'the device was removed from its gateway',
  SERVER_ENDED: 'the server stopped, failed or lost its database',
}

export const partText = ({ state, fromMs, toMs, why }: StripPart): string =>
  `${capitalised(state)} for ${durationText(toMs - fromMs)}${reasonText(state, why)}`

const reasonText = (state: StripPart['state'], why: StripPart['why']): string => {
  if (state === 'not known') return `, ${why === 'SERVER_ENDED' ? reasons.SERVER_ENDED : 'its gateway was away'}`
  return state === 'offline' && why ? `, ${reasons[why]}` : ''
}
