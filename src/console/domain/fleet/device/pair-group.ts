// Finds the pair group of a device: a leader and the devices that are paired with it. [contract 5.1.pairing]
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { operationQuery } from '../../../api.ts'
import type { DeviceDetails, ListedDevice } from './device.ts'
import { groupNamer, pairedLeader } from './pairing-rule.ts'

export interface PairGroup {
  /** The device and all devices that are paired with it, leader first; undefined while the list is loading. */
  readonly members: readonly ListedDevice[] | undefined
  /** The members without the device itself. */
  readonly others: readonly ListedDevice[]
  /** The serial number of the leader, which may not be enrolled. */
  readonly leaderSerial: string
  /** The leader that the device names without being paired with it. */
  readonly unpairedLeader: ListedDevice | undefined
  readonly error: unknown
}

export function usePairGroup(device: DeviceDetails): PairGroup {
  const { data, error } = useQuery(operationQuery('endpointsBasicList'))
  const listed = data?.body.endpoints
  return useMemo(() => {
    // The device of the page is newer than its entry in the list, which is refetched less often.
    const others = listed?.filter(({ id }) => id !== device.id) ?? []
    const groupName = groupNamer([device, ...others])
    const group = groupName(device)
    const leaderSerial = pairedLeader(device, others)
    const byRank = (a: ListedDevice, b: ListedDevice) =>
      Number(b.serial === leaderSerial) - Number(a.serial === leaderSerial) || a.serial.localeCompare(b.serial)
    const paired = others.filter((one) => groupName(one) === group).sort(byRank)
    return {
      members: listed && [device, ...paired].sort(byRank),
      others: paired,
      leaderSerial,
      unpairedLeader:
        leaderSerial === device.serial ? others.find(({ serial }) => serial === device.pairingSerial) : undefined,
      error,
    }
  }, [listed, device, error])
}
