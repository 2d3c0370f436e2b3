// The inputs that several tools take, with the shapes of the operations that they are for.
import Type from 'typebox'
import { operations } from '../../contract/operations.ts'

const { regionId, locationId } = operations.roomsList.query

export const placeFields = {
  regionId: Type.Optional(regionId),
  locationId: Type.Optional(locationId),
}
export const roomIdField = operations.roomsGet.params.id
export const endpointIdField = operations.endpointsGet.params.id
export const incidentIdField = operations.incidentsGet.params.id
export const jobIdField = operations.jobsGet.params.id

export const maxListed = 200
const defaultListed = 50
export const limitField = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: maxListed,
    description: `How many entries to answer; default ${defaultListed}.`,
  }),
)

/** The first entries, and how many there are in all. */
export const firstOf = <T>(entries: readonly T[], limit = defaultListed) => ({
  total: entries.length,
  shown: entries.slice(0, limit),
})

/** Compares names as people write them. */
export const contains = (text: string | undefined, part: string): boolean =>
  (text ?? '').toLowerCase().includes(part.trim().toLowerCase())
