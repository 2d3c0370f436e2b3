// The products of other makers in a simulated fleet: what they are, what they measure and what they can do.
import { type DeviceAction, type EndpointKind, modelOf, type Sensor } from '../contract/device/models.ts'

export interface Product {
  readonly model: string
  readonly name: string
  readonly manufacturer: string
  readonly kind: EndpointKind
  readonly firmwareVersion: string
  readonly hardwareVersion: string
  readonly actions: readonly DeviceAction[]
  readonly sensors: readonly Sensor[]
  /** The device leaves the network in standby. */
  readonly sleeps?: true
  readonly hasPower?: true
}

/** The makers and their products are invented. */
export const products = {
  display: {
    ...{ model: 'LX-65', name: 'Display', manufacturer: 'Lumenor', kind: 'DISPLAY' },
    ...{
      firmwareVersion: '7.4.2',
      hardwareVersion: 'B',
      actions: ['power'],
      sensors: [],
      sleeps: true,
      hasPower: true,
    },
  },
  projector: {
    ...{ model: 'PX-900', name: 'Projector', manufacturer: 'Kastell Optics', kind: 'PROJECTOR' },
    ...{ firmwareVersion: '4.1.7', hardwareVersion: 'R2', actions: ['reboot', 'power'], sensors: [], hasPower: true },
  },
  codec: {
    ...{ model: 'RC-40', name: 'Room codec', manufacturer: 'Brisling', kind: 'CODEC' },
    ...{
      firmwareVersion: '11.20.1',
      hardwareVersion: 'A3',
      actions: ['reboot', 'message', 'logs'],
      sensors: ['people'],
    },
  },
  sensor: {
    ...{ model: 'AIR-2', name: 'Air sensor', manufacturer: 'Aerolys', kind: 'SENSOR' },
    ...{ firmwareVersion: '2.0.9', hardwareVersion: '2', actions: [], sensors: ['co2', 'temp', 'humidity', 'people'] },
  },
  outlet: {
    ...{ model: 'SP-8', name: 'Power outlet', manufacturer: 'Voltra', kind: 'POWER' },
    ...{ firmwareVersion: '1.3.0', hardwareVersion: '1', actions: ['power'], sensors: [], hasPower: true },
  },
} as const satisfies Record<string, Product>
export type ProductId = keyof typeof products

export const isProduct = (what: string): what is ProductId => Object.hasOwn(products, what)

interface DeviceOfProduct {
  readonly model: string
  readonly product?: ProductId
}

/** Undefined for a device whose model is in the table of the service. */
export const productOf = ({ product }: DeviceOfProduct): Product | undefined => product && products[product]

/** The values that a device measures. */
export const sensorsOfDevice = (device: DeviceOfProduct): readonly Sensor[] =>
  productOf(device)?.sensors ?? modelOf(device.model).sensors ?? []
