// A folder in place of "/", with the lists of a kernel as a room PC has them: a webcam, a speakerphone, a television and a panel.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { onTestFinished } from 'vitest'
import { folderInMemory } from '../memory-folder.ts'

export class RecordedRoot {
  readonly path = mkdtempSync(join(folderInMemory(), 'roomkeeper-root-'))

  constructor() {
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }))
  }

  /** Writes files; attributes in sysfs end with a newline. */
  write(folder: string, files: Readonly<Record<string, string | Buffer>>): void {
    for (const [name, content] of Object.entries(files)) {
      const file = join(this.path, folder, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? `${content}\n` : content)
    }
  }

  /** Links are relative, as in sysfs. */
  link(name: string, target: string): void {
    const link = join(this.path, name)
    mkdirSync(dirname(link), { recursive: true })
    mkdirSync(join(this.path, target), { recursive: true })
    symlinkSync(relative(dirname(link), join(this.path, target)), link)
  }

  remove(name: string): void {
    rmSync(join(this.path, name), { recursive: true, force: true })
  }
}

const usbBus = 'sys/devices/pci0000:00/0000:00:14.0/usb1'

/** The webcam has two video nodes, of which the second carries metadata only, and a microphone. */
export function addWebcam(root: RecordedRoot, { port = '1-3', serial = '9D2A61BF', hasUdev = true } = {}): void {
  const device = `${usbBus}/${port}`
  root.write(device, { idVendor: '046d', idProduct: '085e', product: 'Logitech BRIO', serial, bcdDevice: '0317' })
  root.write(`${device}/${port}:1.0`, { bInterfaceClass: '0e' })
  root.write(`${device}/${port}:1.5`, { bInterfaceClass: '01' })
  for (const [index, capabilities] of [':capture:', ':'].entries()) {
    const node = `${device}/${port}:1.0/video4linux/video${index}`
    root.write(node, { name: 'Logitech BRIO', index: String(index), dev: `81:${index}` })
    root.link(`${node}/device`, `${device}/${port}:1.0`)
    root.link(`sys/class/video4linux/video${index}`, node)
    if (hasUdev)
      root.write('run/udev/data', {
        [`c81:${index}`]: `E:ID_V4L_VERSION=2\nE:ID_V4L_PRODUCT=Logitech BRIO\nE:ID_V4L_CAPABILITIES=${capabilities}`,
      })
  }
  root.link('sys/class/sound/card1/device', `${device}/${port}:1.5`)
}

/** The decoder of a graphics chip: it has a video node that captures what it puts out. */
export function addDecoder(root: RecordedRoot): void {
  root.write('sys/devices/platform/bcm2835-codec/video4linux/video10', {
    name: 'bcm2835-codec-decode',
    index: '0',
    dev: '81:10',
  })
  root.link('sys/devices/platform/bcm2835-codec/video4linux/video10/device', 'sys/devices/platform/bcm2835-codec')
  root.link('sys/class/video4linux/video10', 'sys/devices/platform/bcm2835-codec/video4linux/video10')
  root.write('run/udev/data', { 'c81:10': 'E:ID_V4L_CAPABILITIES=:capture:video_output:' })
}

/** Three cards: the one of the board with analogue sockets and HDMI, the microphone of the webcam, and a speakerphone. */
export function addSoundCards(root: RecordedRoot): void {
  const speakerphone = `${usbBus}/1-4`
  root.write(speakerphone, {
    idVendor: '0b0e',
    idProduct: '0420',
    product: 'Jabra SPEAK 510 USB',
    serial: '50C2ED1A4F2Fx010900',
    bcdDevice: '0229',
  })
  root.write(`${speakerphone}/1-4:1.0`, { bInterfaceClass: '01' })
  root.link('sys/class/sound/card2/device', `${speakerphone}/1-4:1.0`)
  root.link('sys/class/sound/card0/device', 'sys/devices/pci0000:00/0000:00:1f.3')
  root.write('proc/asound', {
    cards: [
      ' 0 [PCH            ]: HDA-Intel - HDA Intel PCH',
      '                      HDA Intel PCH at 0xb1234000 irq 145',
      ' 1 [BRIO           ]: USB-Audio - Logitech BRIO',
      '                      Logitech BRIO at usb-0000:00:14.0-3, super speed',
      ' 2 [USB            ]: USB-Audio - Jabra SPEAK 510 USB',
      '                      Jabra SPEAK 510 USB at usb-0000:00:14.0-4, full speed',
    ].join('\n'),
    pcm: [
      '00-00: ALC3246 Analog : ALC3246 Analog : playback 1 : capture 1',
      '00-03: HDMI 0 : HDMI 0 : playback 1',
      '01-00: USB Audio : USB Audio : capture 1',
      '02-00: USB Audio : USB Audio : playback 1 : capture 1',
    ].join('\n'),
    'card0/id': 'PCH',
    'card1/id': 'BRIO',
    'card2/id': 'USB',
  })
}

export function addConnector(root: RecordedRoot, name: string, status: string, edid: Buffer = Buffer.alloc(0)): void {
  root.write(`sys/class/drm/${name}`, { status, enabled: 'enabled', edid })
}

interface EdidText {
  readonly maker: string
  readonly product: number
  readonly name?: string
  readonly serial?: string
}

/** The 128 bytes of a display, with their checksum. */
export function edidOf({ maker, product, name, serial }: EdidText): Buffer {
  const bytes = Buffer.alloc(128)
  Buffer.from('00ffffffffffff00', 'hex').copy(bytes)
  const [a = 0, b = 0, c = 0] = [...maker].map((letter) => letter.charCodeAt(0) - 64)
  bytes.writeUInt16BE((a << 10) | (b << 5) | c, 8)
  bytes.writeUInt16LE(product, 10)
  bytes.write('023a801871382d40582c4500', 54, 'hex')
  for (const [offset, tag, text] of [
    [72, 0xfc, name],
    [90, 0xff, serial],
  ] as const) {
    bytes[offset + 3] = text === undefined ? 0x10 : tag
    if (text !== undefined) bytes.write(`${text}\n`.padEnd(13).slice(0, 13), offset + 5, 'latin1')
  }
  bytes[127] = (256 - (bytes.subarray(0, 127).reduce((sum, byte) => sum + byte, 0) % 256)) % 256
  return bytes
}
