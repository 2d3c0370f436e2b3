// Displays, cameras, microphones and speakers from recorded lists of the kernel.
import { expect, test } from 'vitest'
import {
  addConnector,
  addDecoder,
  addSoundCards,
  addWebcam,
  edidOf,
  RecordedRoot,
} from '../../../test/support/computer/recorded-root.ts'
import { listPeripherals } from './peripherals.ts'

const webcam = { name: 'Logitech BRIO', serial: '9D2A61BF', version: '3.17', connected: true }
const speakerphone = { name: 'Jabra SPEAK 510 USB', serial: '50C2ED1A4F2Fx010900', version: '2.29', connected: true }

test('a machine without such hardware, or without a kernel that lists it, has no peripherals', async () => {
  expect(await listPeripherals(new RecordedRoot().path)).toEqual([])
})

test('a webcam is one camera, whatever the number of its video nodes, and a decoder is none', async () => {
  const root = new RecordedRoot()
  addWebcam(root)
  addDecoder(root)
  expect(await listPeripherals(root.path)).toEqual([{ id: 'camera:046d:085e:9D2A61BF', kind: 'CAMERA', ...webcam }])
})

test('without the answers of drivers that udev keeps, the class of the USB interface decides', async () => {
  const root = new RecordedRoot()
  addWebcam(root, { hasUdev: false })
  addDecoder(root)
  root.remove('run/udev')
  expect((await listPeripherals(root.path)).map(({ id }) => id)).toEqual(['camera:046d:085e:9D2A61BF'])
})

test('a node that its driver calls an output is no camera, even if its name says so', async () => {
  const root = new RecordedRoot()
  addWebcam(root)
  root.write('run/udev/data', { 'c81:0': 'E:ID_V4L_PRODUCT=Camera\nE:ID_V4L_CAPABILITIES=:video_output:' })
  expect(await listPeripherals(root.path)).toEqual([])
})

test('two webcams without a serial number of their own have two ids', async () => {
  const root = new RecordedRoot()
  addWebcam(root, { serial: '00000000' })
  const second = 'sys/devices/pci0000:00/0000:00:14.0/usb1/1-9'
  root.write(second, { idVendor: '046d', idProduct: '085e', product: 'Logitech BRIO' })
  root.write(`${second}/1-9:1.0`, { bInterfaceClass: '0e' })
  root.write(`${second}/1-9:1.0/video4linux/video4`, { name: 'Logitech BRIO', index: '0', dev: '81:4' })
  root.link(`${second}/1-9:1.0/video4linux/video4/device`, `${second}/1-9:1.0`)
  root.link('sys/class/video4linux/video4', `${second}/1-9:1.0/video4linux/video4`)
  const found = await listPeripherals(root.path)
  expect(found.map(({ id, serial }) => [id, serial])).toEqual([
    ['camera:046d:085e', undefined],
    ['camera:046d:085e#2', undefined],
  ])
})

test('a sound card that records is a microphone, and one that plays is a speaker', async () => {
  const root = new RecordedRoot()
  addWebcam(root)
  addSoundCards(root)
  const found = (await listPeripherals(root.path)).filter(({ kind }) => kind !== 'CAMERA')
  expect(found).toEqual([
    { id: 'microphone:PCH', name: 'HDA Intel PCH', kind: 'MICROPHONE', connected: true },
    { id: 'speaker:PCH', name: 'HDA Intel PCH', kind: 'SPEAKER', connected: true },
    { id: 'microphone:046d:085e:9D2A61BF', kind: 'MICROPHONE', ...webcam },
    { id: 'microphone:0b0e:0420:50C2ED1A4F2Fx010900', kind: 'MICROPHONE', ...speakerphone },
    { id: 'speaker:0b0e:0420:50C2ED1A4F2Fx010900', kind: 'SPEAKER', ...speakerphone },
  ])
})

test('a display has the name and the serial number that it gives itself, and keeps its id at another connector', async () => {
  const root = new RecordedRoot()
  const television = edidOf({ maker: 'SAM', product: 0x7321, name: 'QB65R', serial: '0CFVHCPR500123' })
  addConnector(root, 'card0-HDMI-A-1', 'connected', television)
  addConnector(root, 'card0-DP-1', 'disconnected')
  const expected = [
    { id: 'display:SAM7321:0CFVHCPR50012', name: 'QB65R', kind: 'DISPLAY', serial: '0CFVHCPR50012', connected: true },
  ]
  expect(await listPeripherals(root.path)).toEqual(expected)
  addConnector(root, 'card0-HDMI-A-1', 'disconnected')
  addConnector(root, 'card0-DP-1', 'connected', television)
  expect(await listPeripherals(root.path)).toEqual(expected)
})

test('a display that does not describe itself, or whose description is damaged, is known by its connector', async () => {
  const root = new RecordedRoot()
  const damaged = edidOf({ maker: 'SAM', product: 1, name: 'QB65R' })
  damaged[20] = 1
  addConnector(root, 'card0-HDMI-A-1', 'connected', damaged)
  addConnector(root, 'card0-eDP-1', 'connected')
  addConnector(root, 'card0-Writeback-1', 'unknown')
  expect((await listPeripherals(root.path)).map(({ id, name }) => [id, name])).toEqual([
    ['display:eDP-1', 'Display at eDP-1'],
    ['display:HDMI-A-1', 'Display at HDMI-A-1'],
  ])
})

test('two displays of one product without a serial number have two ids', async () => {
  const root = new RecordedRoot()
  const edid = edidOf({ maker: 'DEL', product: 0xa0c4 })
  addConnector(root, 'card0-DP-1', 'connected', edid)
  addConnector(root, 'card0-DP-2', 'connected', edid)
  expect((await listPeripherals(root.path)).map(({ id, name }) => [id, name])).toEqual([
    ['display:DELa0c4', 'Display DELa0c4'],
    ['display:DELa0c4#2', 'Display DELa0c4'],
  ])
})

test('at most 32 are listed, as many as a status can have', async () => {
  const root = new RecordedRoot()
  for (let n = 1; n <= 40; n++) addConnector(root, `card0-DP-${n}`, 'connected')
  expect(await listPeripherals(root.path)).toHaveLength(32)
})
