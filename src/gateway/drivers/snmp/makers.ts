// Makers by their enterprise number, the seventh number of sysObjectID, and what all devices of some makers are.
import type { EndpointKind } from '../../../contract/device/models.ts'

export interface Maker {
  readonly name: string
  /** Absent for makers of many kinds of devices. */
  readonly kind?: EndpointKind
}

const network = (name: string): Maker => ({ name, kind: 'NETWORK' })
const power = (name: string): Maker => ({ name, kind: 'POWER' })
const audio = (name: string): Maker => ({ name, kind: 'AUDIO' })

/** Net-SNMP (8072) and Microsoft (311) are left out: they name the software of an agent, not the maker of the device. */
const makers: Readonly<Record<string, Maker>> = {
  9: { name: 'Cisco' },
  11: { name: 'HP' },
  119: { name: 'NEC' },
  122: { name: 'Sony' },
  236: { name: 'Samsung' },
  258: { name: 'Panasonic' },
  318: power('APC'),
  476: power('Vertiv'),
  534: power('Eaton'),
  674: { name: 'Dell' },
  850: power('Tripp Lite'),
  1248: { name: 'Epson' },
  1531: audio('QSC'),
  1718: power('Server Technology'),
  2385: { name: 'Sharp' },
  2636: network('Juniper'),
  3212: { name: 'Crestron' },
  3808: power('CyberPower'),
  4526: network('Netgear'),
  5596: { name: 'Cisco', kind: 'CODEC' }, // Tandberg, whose codecs kept the number
  7824: { name: 'LG' },
  8942: { name: 'AMX' },
  12827: { name: 'Barco' },
  13742: power('Raritan'),
  13885: { name: 'Poly' },
  14823: network('Aruba'),
  18026: { name: 'Extron' },
  21831: audio('ClearOne'),
  25053: network('Ruckus'),
  25766: { name: 'Christie' },
  29671: network('Cisco Meraki'),
  37459: { name: 'Yealink' },
  41112: { name: 'Ubiquiti' },
  43369: { name: 'BrightSign' },
  44457: audio('Biamp'),
  45986: { name: 'Kramer' },
  47196: { name: 'HPE' },
  49563: audio('Shure'),
  49847: { name: 'Logitech' },
  59650: { name: 'Neat' },
}

/** Undefined for a number that is not in the table. */
export function makerByNumber(sysObjectId: string | undefined): Maker | undefined {
  const number = /^1\.3\.6\.1\.4\.1\.(\d+)(?:\.|$)/.exec(sysObjectId ?? '')?.[1] ?? ''
  return Object.hasOwn(makers, number) ? makers[number] : undefined
}
