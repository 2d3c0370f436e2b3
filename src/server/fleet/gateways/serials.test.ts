// The serial numbers under which devices behind gateways are enrolled. [contract 13.enrolment]
import { expect, test } from 'vitest'
import { isSameDevice, serialOf } from './serials.ts'

const org = { key: 7, id: 'wiL66VP' }
const itemId = '0b9d7c52-6b1e-4a43-9d0c-5d1f3b1f7e20'
const enrolled = (manufacturer: string, serial: string) => serialOf({ manufacturer, serial }, org, itemId)

test('a serial carries its maker, except that of a maker whose devices enrol by themselves', () => {
  expect(enrolled('Cisco', 'FOC1234ABCD')).toBe('Cisco FOC1234ABCD')
  expect(enrolled('Neat', 'NF20A1234567')).toBe('NF20A1234567')
  expect(enrolled('Cisco', '00000000')).toBe(`RK-7-${itemId}`)
})

test.each([40, 61, 62, 63, 64])(
  'a device with a serial of %i characters is told from others, and is itself',
  (length) => {
    const [serial, other] = ['1', '2'].map((end) => end.padStart(length, 'SERIAL-')) as [string, string]
    expect(enrolled('Cisco', serial).length).toBeLessThanOrEqual(64)
    expect(enrolled('Cisco', serial)).not.toBe(enrolled('Cisco', other))
    expect(isSameDevice(enrolled('Cisco', serial), { serial, manufacturer: 'CISCO' })).toBe(true)
    expect(isSameDevice(enrolled('Cisco', serial), { serial: other })).toBe(false)
  },
)
