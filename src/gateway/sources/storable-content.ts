// The counts of a source as the server stores them: it refuses a report with any other number.
import type { SourceContent } from '../../contract/fleet/sources.ts'

const maxCount = 2 ** 31 - 1
const names = ['regions', 'locations', 'rooms', 'profiles', 'devices'] as const

export const storableContent = (content: SourceContent): SourceContent =>
  Object.fromEntries(
    names.flatMap((name) => {
      const count = content[name]
      return Number.isInteger(count) && Number(count) >= 0 && Number(count) <= maxCount ? [[name, count]] : []
    }),
  )
