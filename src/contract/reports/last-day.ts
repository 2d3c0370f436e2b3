// The last 24 hours of an organisation in quarters of an hour: rooms by state, and people. [contract 16.lastDay]
import Type from 'typebox'
import { roomStates } from '../fleet/rooms.ts'
import { operation } from '../operation.ts'
import { Shape, Timestamp } from '../shape.ts'

/** The quarters of an hour of a day. */
export const quartersPerLastDay = 96

const Counts = (state: string) =>
  Type.Array(Type.Integer({ minimum: 0 }), { description: `The rooms that were ${state} at the end of each quarter.` })
const Measured = (description: string) =>
  Type.Array(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]), { description })

const exampleOf = <T>(value: T, last: T) => [...Array<T>(quartersPerLastDay - 1).fill(value), last]

export const lastDayOperations = {
  reportsLastDay: operation({
    method: 'GET',
    path: '/reports/last-day',
    tag: 'Reports',
    scope: 'read',
    summary: 'Read rooms by state and people over the last 24 hours',
    description:
      'The answer has 96 quarters of an hour, the last one that has ended included. Rooms and devices are those of now: a device counts from the time at which it entered its room. Rejected settings are not known of the past, so a room whose devices were all online counts as HEALTHY.',
    response: Shape('LastDay', {
      from: Timestamp('Start of the first quarter.'),
      to: Timestamp('End of the last quarter.'),
      rooms: Shape(
        'LastDayRooms',
        Object.fromEntries(roomStates.map((state) => [state, Counts(state)])) as Record<
          (typeof roomStates)[number],
          ReturnType<typeof Counts>
        >,
      ),
      people: Measured(
        'The people that were counted in each quarter, the mean of each room added up; null if no room counted any.',
      ),
      roomsInUse: Measured(
        'The rooms that were used in each quarter, with people or with presence; null if no room was measured.',
      ),
    }),
    example: {
      response: {
        from: '2026-11-18T09:00:00.000Z',
        to: '2026-11-19T09:00:00.000Z',
        rooms: {
          OFFLINE: exampleOf(0, 1),
          DEGRADED: exampleOf(0, 0),
          UNKNOWN: exampleOf(0, 0),
          HEALTHY: exampleOf(2, 1),
          EMPTY: exampleOf(0, 0),
        },
        people: exampleOf<number | null>(4, null),
        roomsInUse: exampleOf<number | null>(1, null),
      },
    },
  }),
}
