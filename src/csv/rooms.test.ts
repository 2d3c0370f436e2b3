// Rooms as CSV: the columns under all their names, what the rows ask for, and mistakes with row and column.
import { expect, test } from 'vitest'
import type { OrganisationDocument } from '../plan/document.ts'
import { answerFile } from './answer-file.ts'
import { CsvError, mistakesText } from './mistakes.ts'
import { readCsv } from './read-csv.ts'
import { roomsCsv } from './room-export.ts'
import { readRooms, roomSheetColumns } from './rooms.ts'

const current: OrganisationDocument = {
  organisation: 'acme',
  regions: [
    {
      id: 11,
      name: 'Europe',
      locations: [
        {
          id: 3,
          name: 'Oslo HQ',
          timezone: 'Europe/Oslo',
          rooms: [
            { id: 7, name: 'Fjord', capacity: 8, tags: ['quiet', 'north'], profile: { id: 2 }, fields: { av: 'A1' } },
          ],
        },
        { id: 4, name: 'Annex', rooms: [{ id: 8, name: '=Lab', externalId: 'X-8' }] },
      ],
    },
    { id: 12, name: 'Asia', locations: [{ id: 5, name: 'Annex' }] },
    { id: 13, name: 'Africa' },
  ],
  rooms: [{ id: 9, name: 'Van' }],
  profiles: [
    { id: 2, name: 'Quiet' },
    { id: 20, name: 'Twice' },
    { id: 21, name: 'Twice' },
  ],
}

const sheetOf = (text: string) => roomSheetColumns.sheet(readCsv(new TextEncoder().encode(text), roomSheetColumns.has))
const importOf = (text: string) => readRooms(sheetOf(text), current)
const documentOf = (text: string) => {
  const { document, mistakes } = importOf(text)
  expect(mistakes).toEqual([])
  return document
}
function mistakesOf(text: string): string {
  try {
    return mistakesText(importOf(text).mistakes)
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
}

test('columns stand in any order, and rows of one location become one location', () => {
  const text = [
    'capacity,Room,LOCATION,region,field.av,tags,time zone,profile,floor,contact,external-id',
    '4,Elm,Paris,Europe,B2,"a, b",Europe/Paris,Quiet,3,+33 1 23,E-1',
    ',Oak,Paris,Europe,,,,,,,',
    ',,Lyon,Europe,,,,,,,',
    ',,,Oceania,,,,,,,',
  ].join('\n')
  const { document, rows, rowOfPointer, mistakes } = importOf(text)
  expect(mistakes).toEqual([])
  const elm = { name: 'Elm', externalId: 'E-1', capacity: 4, tags: ['a', 'b'], floor: '3', contact: '+33 1 23' }
  const cleared = { externalId: null, capacity: null, tags: null, floor: null, contact: null, profile: null }
  expect(document).toEqual({
    organisation: 'acme',
    regions: [
      {
        name: 'Europe',
        locations: [
          {
            name: 'Paris',
            timezone: 'Europe/Paris',
            rooms: [
              { ...elm, fields: { av: 'B2' }, profile: { id: 2 } },
              { name: 'Oak', ...cleared, fields: { av: null } },
            ],
          },
          { name: 'Lyon', timezone: null, rooms: [] },
        ],
      },
      { name: 'Oceania', locations: [] },
    ],
  })
  expect(rows).toEqual([
    { number: 2, pointer: '/regions/0/locations/0/rooms/0', names: ['Europe', 'Paris', 'Elm'] },
    { number: 3, pointer: '/regions/0/locations/0/rooms/1', names: ['Europe', 'Paris', 'Oak'] },
    { number: 4, pointer: '/regions/0/locations/1', names: ['Europe', 'Lyon'] },
    { number: 5, pointer: '/regions/1', names: ['Oceania'] },
  ])
  expect(rowOfPointer.get('/regions/0/locations/0')).toBe(2)
})

test('the files of the three public tools are understood', () => {
  expect(documentOf('locationId,name,DEC\n3,Pine,\n').regions).toEqual([
    { name: 'Europe', locations: [{ id: 3, name: 'Oslo HQ', rooms: [{ name: 'Pine' }] }] },
  ])
  expect(documentOf('Region,Location\nEurope,Oslo HQ\n').regions).toEqual([
    { name: 'Europe', locations: [{ id: 3, name: 'Oslo HQ', rooms: [] }] },
  ])
  // The ids are of another service, so the name counts: the room stays where it is.
  expect(documentOf('room_name,room_id,device_enrollment_code,status\nFjord,9,ABC,SUCCESS\n').regions).toEqual([
    { name: 'Europe', locations: [{ id: 3, name: 'Oslo HQ', rooms: [{ name: 'Fjord' }] }] },
  ])
})

test('an id of a room counts beside its organisation only, and a renamed room keeps it', () => {
  const row = (organisation: string) =>
    `organisation,room_id,region,location,room\n${organisation},7,Europe,Annex,Fjord 2\n`
  const rooms = (text: string) => documentOf(text).regions?.[0]?.locations?.[0]?.rooms
  expect(rooms(row('acme'))).toEqual([{ id: 7, name: 'Fjord 2' }])
  expect(rooms(row('other'))).toEqual([{ name: 'Fjord 2' }])
})

test('a location without the column region is found by its name, and a room without a location stays where it is', () => {
  expect(documentOf('location,room\nOslo HQ,A\nNew,B\n')).toMatchObject({
    regions: [{ name: 'Europe', locations: [{ id: 3, name: 'Oslo HQ', rooms: [{ name: 'A' }] }] }],
    locations: [{ name: 'New', rooms: [{ name: 'B' }] }],
  })
  expect(documentOf('room,external_id\nLab,X-8\nVan,\nTent,\n')).toMatchObject({
    regions: [{ name: 'Europe', locations: [{ id: 4, name: 'Annex', rooms: [{ name: 'Lab', externalId: 'X-8' }] }] }],
    rooms: [{ name: 'Van' }, { name: 'Tent' }],
  })
})

test('a location that one row names by its id, and another by its name, is one location', () => {
  const text = 'location_id,region,location,room\n3,,,A\n,Europe,Oslo HQ,B\n'
  expect(documentOf(text).regions).toEqual([
    { name: 'Europe', locations: [{ id: 3, name: 'Oslo HQ', rooms: [{ name: 'A' }, { name: 'B' }] }] },
  ])
})

test.each([
  [
    'room,capacty\nA,1\n',
    /^Row 1, column B \(capacty\): "capacty" is not a column\. The columns are region, location, room, .* Rename or remove it\.$/,
  ],
  ['room,name\nA,B\n', 'Row 1, column B (name): The column is named "room" already. Remove one of the two.'],
  ['room,field.Bad-Name\nA,B\n', /^Row 1, column B \(field\.Bad-Name\): .* is not a column/],
  ['room,\nA,1\n', 'Row 1, column B: The column has no header, and row 2 has a value in it.'],
  [
    'room,capacty\nA,1\nB,2,x\n',
    /^Row 1, column B \(capacty\): .*\nRow 3, column C: The header has 2 columns\. Name this column, or put the cell in quotation marks\.$/,
  ],
  ['room\nA,B\n', 'Row 2, column B: The header has 1 column. Name this column, or put the cell in quotation marks.'],
  [
    'capacity\n1\n',
    'Row 1: The file has no column room or location or region or external_id. The first row names the columns.',
  ],
  ['room\n"=HYPERLINK(""x"")"\n', /^Row 2, column A \(room\): The cell is a formula\./],
  [
    'room,capacity\nA,many\nB,0\nC,1.5\nD,10001\n',
    /^(Row \d, column B \(capacity\): "[^"]+" is not a whole number from 1 to 10000\.\n?){4}$/,
  ],
  [
    'room,tags\nA,Big Room\n',
    'Row 2, column B (tags): "Big" is not a tag. A tag has up to 40 of a-z, 0-9 and hyphens.',
  ],
  [
    'location,timezone\nX,Mars/Base\n',
    'Row 2, column B (timezone): "Mars/Base" is not a time zone. Write one such as Europe/Oslo.',
  ],
  [
    'location,timezone,room\nX,Europe/Oslo,A\nX,Asia/Tokyo,B\n',
    'Row 3, column B (timezone): Row 2 has Europe/Oslo for the same location. Write the same time zone in both.',
  ],
  [
    'room,profile\nA,Loud\nB,Twice\n',
    'Row 2, column B (profile): There is no profile "Loud". Create it first.\nRow 3, column B (profile): 2 profiles have the name "Twice". Rename all but one.',
  ],
  [
    `room\n${'x'.repeat(101)}\n"a\nb"\n`,
    'Row 2, column A (room): The text has 101 characters. It can have 100.\nRow 3, column A (room): The text has a line break or another control character. Remove it.',
  ],
  [
    'locationId,name\n99,A\n',
    'Row 2, column A (locationId): There is no location 99. Write the id of a location that exists.',
  ],
  [
    'location_id,location,room\n3,Oslo,A\n',
    'Row 2, column B (location): Location 3 has the name "Oslo HQ". Remove one of the two.',
  ],
  ['location,room\nAnnex,A\n', 'Row 2, column A (location): 2 locations have this name (4, 5). Add the column region.'],
  [
    'region,location,room\nEurope,,A\n',
    'Row 2, column B (location): A room is in a region through its location. Write the location.',
  ],
  [
    'location,room,capacity\nOslo HQ,,5\n',
    'Row 2, column B (room): The row has values of a room, and no name. Write the name of the room.',
  ],
  ['location,room\nOslo HQ,A\nOslo HQ,A\n', 'Row 3, column B (room): Row 2 has the same room. Remove one of the two.'],
  [
    'room,location_id,capacity,profile\nA,99,many,Loud\nB,3,0,\nB,3,,\n',
    'Row 2, column C (capacity): "many" is not a whole number from 1 to 10000.\nRow 2, column D (profile): There is no profile "Loud". Create it first.\nRow 2, column B (location_id): There is no location 99. Write the id of a location that exists.\nRow 3, column C (capacity): "0" is not a whole number from 1 to 10000.\nRow 4, column A (room): Row 3 has the same room. Remove one of the two.',
  ],
  [
    'region,location,room,organisation,room_id\nEurope,Oslo HQ,Fjord,acme,7\nEurope,Oslo HQ,Fjord,,\n',
    'Row 3, column C (room): Row 2 has the same room. Remove one of the two.',
  ],
  [
    'region,location,room,external_id\nEurope,Oslo HQ,A,\nEurope,Oslo HQ,A,E-1\n',
    'Row 3, column C (room): Row 2 has the same room. Remove one of the two.',
  ],
])('a mistake is named with its row and column (%#)', (text, message) => {
  if (typeof message === 'string') expect(mistakesOf(text)).toBe(message)
  else expect(mistakesOf(text)).toMatch(message)
})

test('an exported file asks for what is there, and its answer too', () => {
  const csv = roomsCsv(current)
  expect(csv).toBe(
    [
      'region,location,room,capacity,tags,profile,timezone,floor,contact,external_id,field.av,organisation,room_id',
      'Africa,,,,,,,,,,,acme,',
      'Asia,Annex,,,,,,,,,,acme,',
      'Europe,Oslo HQ,Fjord,8,quiet north,Quiet,Europe/Oslo,,,,A1,acme,7',
      `Europe,Annex,'=Lab,,,,,,,X-8,,acme,8`,
      ',,Van,,,,,,,,,acme,9',
      '',
    ].join('\r\n'),
  )
  const asked = documentOf(csv)
  expect(asked.regions?.map(({ name }) => name)).toEqual(['Africa', 'Asia', 'Europe'])
  expect(asked.regions?.[2]?.locations?.[1]?.rooms).toMatchObject([{ id: 8, name: '=Lab', externalId: 'X-8' }])
  const answer = answerFile(sheetOf(csv), ['enrolment_code', 'result'], (row) =>
    row < 4 ? {} : { enrolment_code: `CODE-${row}`, result: 'unchanged' },
  )
  expect(answer.split('\r\n').slice(2, 5)).toEqual(
    [
      'Africa,,,,,,,,,,,acme,,,',
      'Asia,Annex,,,,,,,,,,acme,,,',
      'Europe,Oslo HQ,Fjord,8,quiet north,Quiet,Europe/Oslo,,,,A1,acme,7,CODE-4,unchanged',
    ]
      .slice(1)
      .concat([`Europe,Annex,'=Lab,,,,,,,X-8,,acme,8,CODE-5,unchanged`]),
  )
  expect(documentOf(answer)).toEqual(asked)
})
