// Makes the links of a table one tab stop: the link that had the focus last, or the first one. Arrow keys move among them.
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { moveFocus } from './arrow-focus.ts'

export function OneTabStop({ children }: { readonly children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const [last, setLast] = useState<string>()
  // The links are rendered by cells, which do not know each other.
  useLayoutEffect(() => {
    const links = [...(box.current?.querySelectorAll('a') ?? [])]
    const stop = links.find(({ href }) => href === last) ?? links[0]
    for (const link of links) link.tabIndex = link === stop ? 0 : -1
  })
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the links take the keys
    <div
      ref={box}
      onKeyDown={(event) => moveFocus(event, 'a')}
      onFocus={({ target }) => target instanceof HTMLAnchorElement && setLast(target.href)}
    >
      {children}
    </div>
  )
}
