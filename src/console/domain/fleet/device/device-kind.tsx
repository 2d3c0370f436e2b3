// The kinds of devices in words, each with an icon. [contract 5.1.kind]
import type { ComponentType } from 'react'
import { type EndpointKind, modelOf } from '../../../../contract/device/models.ts'
import { DeviceIcon, icon } from '../../../parts/page/icons.tsx'
import classes from './device-kind.module.css'

interface KindStyle {
  readonly name: string
  readonly Icon: ComponentType<{ readonly size?: number }>
}

const kinds: Readonly<Record<EndpointKind, KindStyle>> = {
  CODEC: { name: 'Codec', Icon: DeviceIcon },
  CONTROLLER: { name: 'Controller', Icon: icon(<path d="M7 3h10v18H7zM11 18h2" />) },
  DISPLAY: { name: 'Display', Icon: icon(<path d="M3 5h18v12H3zM8 21h8M12 17v4" />) },
  PROJECTOR: {
    name: 'Projector',
    Icon: icon(<path d="M3 8h18v9H3zM15 15.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6.500 12h2M6 17v3M18 17v3" />),
  },
  CAMERA: { name: 'Camera', Icon: icon(<path d="M3 7h12v10H3zM15 11l6-3v8l-6-3" />) },
  AUDIO: { name: 'Audio', Icon: icon(<path d="M4 9v6h4l5 4V5L8 9zM16 9a4 4 0 0 1 0 6M18.500 6.500a8 8 0 0 1 0 11" />) },
  PRESENTATION: {
    name: 'Presentation',
    Icon: icon(<path d="M3 4h18M5 4v11h14V4M12 15v3M8 21l4-3 4 3M9 11l2-2 2 2 3-3" />),
  },
  CONTROL: {
    name: 'Control system',
    Icon: icon(<path d="M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4" />),
  },
  SENSOR: {
    name: 'Sensor',
    Icon: icon(
      <path d="M12 13a1 1 0 1 0 0-2 1 1 0 0 0 0 2zM8 16a5.500 5.500 0 0 1 0-8M16 8a5.500 5.500 0 0 1 0 8M5 19a10 10 0 0 1 0-14M19 5a10 10 0 0 1 0 14" />,
    ),
  },
  POWER: { name: 'Power', Icon: icon(<path d="M12 3v8M7.500 6a8 8 0 1 0 9 0" />) },
  NETWORK: { name: 'Network', Icon: icon(<path d="M10 3h4v4h-4zM4 17h4v4H4zM16 17h4v4h-4zM12 7v5M6 17v-5h12v5" />) },
  COMPUTER: { name: 'Computer', Icon: icon(<path d="M5 5h14v10H5zM2 19h20" />) },
  GATEWAY: { name: 'Gateway', Icon: icon(<path d="M4 13h16v6H4zM8 16h.01M12 16h.01M12 13V9M9 6a4 4 0 0 1 6 0" />) },
  OTHER: { name: 'Other', Icon: icon(<path d="M5 5h14v14H5zM10 10a2 2 0 1 1 2 2.500V14M12 16.500v.01" />) },
}

/** Lists leave out the kinds of known models. A device of another model that reports no kind is of the kind OTHER. */
export const kindOf = ({ model, kind }: { readonly model: string; readonly kind?: EndpointKind }): EndpointKind =>
  modelOf(model).kind ?? kind ?? 'OTHER'
export const kindName = (kind: EndpointKind): string => kinds[kind].name

/** The icon alone; its name is a tip, and read by screen readers. */
export function KindIcon({ kind }: { readonly kind: EndpointKind }) {
  const { name, Icon } = kinds[kind]
  return (
    <span className={classes.icon} role="img" aria-label={name} title={name}>
      <Icon />
    </span>
  )
}

export function KindLabel({ kind }: { readonly kind: EndpointKind }) {
  const { name, Icon } = kinds[kind]
  return (
    <span className={classes.kind} title={name}>
      <Icon size={16} />
      <span>{name}</span>
    </span>
  )
}
