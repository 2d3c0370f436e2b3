// Reads the regions, the locations and their rooms as a tree.
import { useMemo } from 'react'
import type { Static } from 'typebox'
import type { RoomInList } from '../../../contract/fleet/rooms.ts'
import { useBody } from '../../api.ts'
import { useRestarts } from '../../domain/fleet/device/restarts.ts'
import { useRestartingRooms } from '../../domain/fleet/room/room-restarts.ts'
import { useSites } from '../../domain/fleet/site/sites.ts'
import { buildSiteTree, type LocationNode, type SiteTree } from './site-tree.ts'

export interface SiteTreeWithRooms {
  readonly tree: SiteTree
  readonly rooms: readonly Static<typeof RoomInList>[]
}

export function useSiteTree(): SiteTreeWithRooms {
  const sites = useSites()
  const { rooms } = useBody('roomsList')
  const restarting = useRestartingRooms(useRestarts())
  const tree = useMemo(() => buildSiteTree(sites, rooms, restarting), [sites, rooms, restarting])
  return { tree, rooms }
}

export const locationsOf = ({ regions, locationsWithoutRegion }: SiteTree): readonly LocationNode[] => [
  ...regions.flatMap((node) => node.locations),
  ...locationsWithoutRegion,
]
