// How sources, their content and their devices are named.
import type { SourceType } from '../../../../contract/fleet/drivers.ts'
import type { Source, SourceContent } from '../../../../contract/fleet/sources.ts'
import { plural } from '../../../parts/text/words.ts'

export const sourceTypeNames: Readonly<Record<SourceType, string>> = {
  'neat-pulse': 'Neat Pulse',
  mqtt: 'MQTT broker',
}

/** Reboots, messages, log requests and settings are not sent to such a source. */
export const isReadOnly = ({ type, write }: Source): boolean => type === 'mqtt' || write !== true

const contentNouns = { regions: 'region', locations: 'location', rooms: 'room', profiles: 'profile', devices: 'device' }

/** "2 regions, 38 rooms, 44 devices"; empty if the source says nothing about its content. */
export const contentText = (content: SourceContent): string =>
  Object.entries(contentNouns)
    .flatMap(([name, noun]) => {
      const count = content[name as keyof SourceContent]
      return count === undefined ? [] : [plural(count, noun)]
    })
    .join(', ')
