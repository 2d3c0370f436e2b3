// Puts the shell around every page, except the wall: a screen on a wall has no navigation.
import { Outlet, useRouterState } from '@tanstack/react-router'
import { LoadingBoundary } from '../parts/page/page.tsx'
import { Shell } from './shell.tsx'

export function Frame() {
  // The last segment of the address would not do: /rooms/wall is the page of a room that does not exist.
  const isWall = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId === '/wall' })
  if (!isWall) return <Shell />
  return (
    <LoadingBoundary>
      <Outlet />
    </LoadingBoundary>
  )
}
