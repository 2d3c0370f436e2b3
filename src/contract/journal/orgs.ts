// The organisation of the caller: its name, its time zone, its air limits, its working hours and what its reports count. [contract 6.orgs]

import Type, { type Static } from 'typebox'
import { mediumBodyBytes, operation } from '../operation.ts'
import { Name, Shape, SingleLineText } from '../shape.ts'
import { WeeklyHours } from '../weekly-hours.ts'

/** Far outside of what any sensor measures. */
export const limitRange = { minimum: -1_000_000, maximum: 1_000_000 }
export const AirLimit = Shape('AirLimit', {
  min: Type.Optional(Type.Number({ ...limitRange, description: 'Smaller values are outside; absent means no limit.' })),
  max: Type.Optional(Type.Number({ ...limitRange, description: 'Larger values are outside; absent means no limit.' })),
})
export type AirLimit = Readonly<Static<typeof AirLimit>>

const limitsBySensor = { co2: AirLimit, voc: AirLimit, temp: AirLimit, humidity: AirLimit }
/** The air of a room is an outlier outside of these. */
export const AirLimits = Shape('AirLimits', limitsBySensor)
export type AirLimits = Readonly<Static<typeof AirLimits>>

export const defaultAirLimits: AirLimits = {
  co2: { max: 1000 },
  voc: { max: 2000 },
  temp: { min: 18, max: 27 },
  humidity: { min: 25, max: 65 },
}

/** In percent. */
export const targetRange = { minimum: 0, maximum: 100 }
/** The part of the time in which rooms should work. */
export const AvailabilityTarget = Type.Number({
  ...targetRange,
  description: 'The availability that rooms should reach, in percent, with at most three decimal places.',
})
export const defaultAvailabilityTarget = 99.5

export const ignoreUnderRange = { minimum: 0, maximum: 1440 }
/** Reports do not charge a time without a connection that lasts less. [contract 6.orgs] */
export const IgnoreUnderMinutes = Type.Integer({
  ...ignoreUnderRange,
  description: 'Availability does not count times without a connection of less than so many minutes as outages.',
})
export const defaultIgnoreUnderMinutes = 5

export const OwnOrganisation = Shape('Organisation', {
  id: Type.String({ description: 'Identifier of the organisation.' }),
  name: Type.String({ description: 'Name of the organisation.' }),
  timezone: Type.String({ description: 'Time zone of the organisation, such as Europe/Oslo.' }),
  airLimits: AirLimits,
  workingHours: Type.Optional(WeeklyHours),
  availabilityTarget: AvailabilityTarget,
  ignoreUnderMinutes: IgnoreUnderMinutes,
})

const example = {
  id: 'LXJ45kN',
  name: 'Example',
  timezone: 'Europe/Oslo',
  airLimits: defaultAirLimits,
  workingHours: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '17:00' },
  availabilityTarget: defaultAvailabilityTarget,
  ignoreUnderMinutes: defaultIgnoreUnderMinutes,
}

export const orgOperations = {
  orgsGet: operation({
    method: 'GET',
    path: '',
    tag: 'Organisation',
    scope: 'read',
    summary: 'Read the organisation',
    response: OwnOrganisation,
    versioned: true,
    example: { response: example },
  }),
  orgsUpdate: operation({
    method: 'PUT',
    path: '',
    tag: 'Organisation',
    scope: 'write',
    everywhere: true,
    summary: 'Change the name, the time zone, the air limits, the working hours and the targets of the organisation',
    description:
      'An absent key keeps its value, and so does an absent sensor of `airLimits`. A sensor with {} has no limits. `workingHours` null clears the working hours. At least one key is needed.',
    body: Shape(
      'OrgsUpdateRequest',
      {
        name: Type.Optional(Name('organisation')),
        timezone: Type.Optional(SingleLineText(64, 'A time zone such as Europe/Oslo.')),
        airLimits: Type.Optional(Type.Partial(AirLimits, { title: 'AirLimitChanges' })),
        workingHours: Type.Optional(Type.Union([WeeklyHours, Type.Null()])),
        availabilityTarget: Type.Optional(AvailabilityTarget),
        ignoreUnderMinutes: Type.Optional(IgnoreUnderMinutes),
      },
      { minProperties: 1 },
    ),
    bodyLimitBytes: mediumBodyBytes,
    response: OwnOrganisation,
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'ORG_UPDATED' },
    example: {
      body: { airLimits: { co2: { max: 800 } } },
      response: { ...example, airLimits: { ...defaultAirLimits, co2: { max: 800 } } },
    },
  }),
}
