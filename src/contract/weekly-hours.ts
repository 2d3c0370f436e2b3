// Hours that repeat every week: of silences, channels and change windows. [contract 10.silence]
import Type, { type Static } from 'typebox'
import { OneOf, Shape } from './shape.ts'

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof weekdays)[number]

/** The hours and minutes of a clock. */
export const timeOfDayPattern = '^([01]\\d|2[0-3]):[0-5]\\d$'

/** A time of day, such as 20:00, and the days on which a span begins. */
export const WeeklyHours = Shape('WeeklyHours', {
  days: Type.Array(OneOf(weekdays, 'A day on which the hours begin.'), { minItems: 1, maxItems: 7 }),
  from: Type.String({ pattern: timeOfDayPattern, description: 'Start time, such as 20:00.' }),
  to: Type.String({
    pattern: timeOfDayPattern,
    description: 'End time, such as 05:00. An end that is not later than the start is on the next day.',
  }),
})
export type WeeklyHours = Static<typeof WeeklyHours>
