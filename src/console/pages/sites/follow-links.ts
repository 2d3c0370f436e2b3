// Makes the router follow the plain links of a list, which are quicker to render than its own.
import { useRouter } from '@tanstack/react-router'
import { type MouseEvent, useCallback } from 'react'

/** Returns a handler for the clicks in the list. */
export function useFollowLinks(): (event: MouseEvent) => void {
  const { history } = useRouter()
  return useCallback(
    (event) => {
      const link = (event.target as HTMLElement).closest('a')
      if (!link || event.defaultPrevented) return
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      history.push(link.pathname + link.search)
    },
    [history],
  )
}
