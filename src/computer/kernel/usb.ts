// Finds the USB device that a camera or a sound card belongs to.
import { dirname, join } from 'node:path'
import { realText } from '../../contract/device/placeholders.ts'
import { linkTarget, readText } from './files.ts'

export interface UsbDevice {
  /** Maker and product as numbers, such as 046d:0825. */
  readonly id: string
  readonly name: string | undefined
  readonly serial: string | undefined
  readonly version: string | undefined
  /** The class of the interface that the kernel's driver uses, such as 0e for video. */
  readonly interfaceClass: string | undefined
}

/** `link` leads to the interface of a USB device, or to something that is not USB. */
export async function usbDeviceOf(link: string): Promise<UsbDevice | undefined> {
  const folder = await linkTarget(link)
  if (folder === undefined) return undefined
  const interfaceClass = await readText(join(folder, 'bInterfaceClass'))
  if (interfaceClass === undefined) return undefined
  const read = (name: string) => readText(join(dirname(folder), name))
  const [vendor, product, name, serial, release] = await Promise.all(
    ['idVendor', 'idProduct', 'product', 'serial', 'bcdDevice'].map(read),
  )
  return {
    id: `${vendor}:${product}`,
    name: realText(name),
    serial: realText(serial),
    version: versionText(release),
    interfaceClass,
  }
}

/** The kernel writes 1.23 as 0123. */
function versionText(release: string | undefined): string | undefined {
  const [, major, minor] = /^(\d\d)(\d\d)$/.exec(release ?? '') ?? []
  return major === undefined ? undefined : `${Number(major)}.${minor}`
}
