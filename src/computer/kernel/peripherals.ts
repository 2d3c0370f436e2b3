// Lists the displays, cameras, microphones and speakers that the kernel lists. Names never decide what something is.
import { basename, join } from 'node:path'
import { realText } from '../../contract/device/placeholders.ts'
import type { PeripheralKind } from '../../contract/fleet/reported-status.ts'
import { readEdid } from './edid.ts'
import { linkTarget, listNames, readBytes, readText } from './files.ts'
import { type UsbDevice, usbDeviceOf } from './usb.ts'

export interface Peripheral {
  readonly id: string
  readonly name: string
  readonly kind: PeripheralKind
  readonly serial?: string
  readonly version?: string
  readonly connected: true
}

type Found = Omit<Peripheral, 'connected' | 'serial' | 'version'> & {
  readonly serial?: string | undefined
  readonly version?: string | undefined
}

const maxPeripherals = 32
const maxIdCharacters = 60
const maxNameCharacters = 100
const maxSerialCharacters = 64
const usbVideoClass = '0e'

/** The file system of a computer; "/" unless a test gives a folder with recorded lists. */
export async function listPeripherals(root: string): Promise<Peripheral[]> {
  const found = await Promise.all([listDisplays(root), listCameras(root), listSoundCards(root)])
  return withUniqueIds(found.flat()).slice(0, maxPeripherals)
}

/** A connector without a display is not listed, and a display keeps its id at another connector. */
async function listDisplays(root: string): Promise<Found[]> {
  const folder = join(root, 'sys/class/drm')
  const displays = (await listNames(folder)).map(async (name): Promise<Found[]> => {
    if ((await readText(join(folder, name, 'status'))) !== 'connected') return []
    const connector = name.replace(/^card\d+-/, '')
    const identity = readEdid((await readBytes(join(folder, name, 'edid'))) ?? Buffer.alloc(0))
    const id = identity ? [identity.product, identity.serial].filter(Boolean).join(':') : connector
    return [
      {
        id: `display:${id}`,
        name: identity?.name ?? (identity ? `Display ${identity.product}` : `Display at ${connector}`),
        kind: 'DISPLAY',
        serial: identity?.serial,
      },
    ]
  })
  return (await Promise.all(displays)).flat()
}

/** One camera can have several video nodes: those that only carry metadata, or that decode, do not count. */
async function listCameras(root: string): Promise<Found[]> {
  const folder = join(root, 'sys/class/video4linux')
  const seen = new Set<string>()
  const cameras: Found[] = []
  for (const name of await listNames(folder)) {
    const node = join(folder, name)
    const device = await linkTarget(join(node, 'device'))
    const usb = await usbDeviceOf(join(node, 'device'))
    if (device === undefined || seen.has(device) || !(await capturesVideo(root, node, usb))) continue
    seen.add(device)
    const title = usb?.name ?? realText(await readText(join(node, 'name'))) ?? 'Camera'
    cameras.push({ id: `camera:${usbId(usb) ?? basename(device)}`, name: title, kind: 'CAMERA', ...partsOf(usb) })
  }
  return cameras
}

/**
 * udev has asked the driver what the node can do (VIDIOC_QUERYCAP) and keeps the answer. Without udev, the first node of a USB device of
 * the class Video captures. A node that both captures and puts out is a converter.
 */
async function capturesVideo(root: string, node: string, usb: UsbDevice | undefined): Promise<boolean> {
  const record = await readText(join(root, 'run/udev/data', `c${await readText(join(node, 'dev'))}`))
  const [, capabilities] = /^E:ID_V4L_CAPABILITIES=(.*)$/m.exec(record ?? '') ?? []
  if (capabilities !== undefined) return capabilities.includes(':capture:') && !capabilities.includes(':video_output:')
  return usb?.interfaceClass === usbVideoClass && (await readText(join(node, 'index'))) === '0'
}

/** A sound card that records is a microphone, one that plays is a speaker, and many are both. */
async function listSoundCards(root: string): Promise<Found[]> {
  const folder = join(root, 'proc/asound')
  const streams = (await readText(join(folder, 'pcm')))?.split('\n') ?? []
  const titles = (await readText(join(folder, 'cards'))) ?? ''
  const cards = (await listNames(folder)).filter((name) => /^card\d+$/.test(name))
  const found = cards.map(async (card): Promise<Found[]> => {
    const number = Number(card.slice('card'.length))
    const own = streams.filter((line) => Number(/^(\d+)-/.exec(line)?.[1]) === number)
    const usb = await usbDeviceOf(join(root, 'sys/class/sound', card, 'device'))
    const [, title] = new RegExp(`^\\s*${number} \\[.*\\]: .* - (.+)$`, 'm').exec(titles) ?? []
    const name = usb?.name ?? realText(title) ?? `Sound card ${number}`
    const id = usbId(usb) ?? (await readText(join(folder, card, 'id'))) ?? card
    const has = (direction: string) => own.some((line) => new RegExp(`: ${direction} \\d+(?: :|$)`).test(line.trim()))
    return [
      ...(has('capture') ? [{ id: `microphone:${id}`, name, kind: 'MICROPHONE' as const, ...partsOf(usb) }] : []),
      ...(has('playback') ? [{ id: `speaker:${id}`, name, kind: 'SPEAKER' as const, ...partsOf(usb) }] : []),
    ]
  })
  return (await Promise.all(found)).flat()
}

/** A USB device keeps its id at another socket. */
const usbId = (usb: UsbDevice | undefined) => usb && [usb.id, usb.serial].filter(Boolean).join(':')
const partsOf = (usb: UsbDevice | undefined) => ({ serial: usb?.serial, version: usb?.version })

/** The second of two that look the same gets #2. */
function withUniqueIds(found: readonly Found[]): Peripheral[] {
  const counts = new Map<string, number>()
  return found.map(({ id: wholeId, name, kind, serial, version }) => {
    const id = wholeId.slice(0, maxIdCharacters)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return {
      id: count === 1 ? id : `${id}#${count}`,
      name: name.slice(0, maxNameCharacters),
      kind,
      ...(serial !== undefined && { serial: serial.slice(0, maxSerialCharacters) }),
      ...(version !== undefined && { version }),
      connected: true,
    }
  })
}
