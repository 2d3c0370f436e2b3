// Finds the pair group of a device: all devices with the same leader. [contract 5.1.pairing]
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { operationQuery } from '../../api.ts'
import type { DeviceDetails, ListedDevice } from './device.ts'

export interface PairGroup {
  /** The device and all devices that are paired with it, leader first; undefined while the list is loading. */
  readonly members: readonly ListedDevice[] | undefined
  /** The members without the device itself. */
  readonly others: readonly ListedDevice[]
  readonly leaderSerial: string
  readonly error: unknown
}

interface Paired {
  readonly serial: string
  readonly pairingSerial?: string
}

export const leaderSerialOf = ({ pairingSerial, serial }: Paired): string => pairingSerial ?? serial

export function usePairGroup(device: DeviceDetails): PairGroup {
  const { data, error } = useQuery(operationQuery('endpointsBasicList'))
  const leaderSerial = leaderSerialOf(device)
  const listed = data?.body.endpoints
  return useMemo(() => {
    const paired = listed?.filter((one) => one.id !== device.id && leaderSerialOf(one) === leaderSerial) ?? []
    const byRank = (a: ListedDevice, b: ListedDevice) =>
      Number(b.serial === leaderSerial) - Number(a.serial === leaderSerial) || a.serial.localeCompare(b.serial)
    return {
      // The device of the page is newer than its entry in the list, which is refetched less often.
      members: listed && [device, ...paired].sort(byRank),
      others: paired.sort(byRank),
      leaderSerial,
      error,
    }
  }, [listed, device, leaderSerial, error])
}
