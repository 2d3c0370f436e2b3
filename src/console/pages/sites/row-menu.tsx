// The menu with the actions of a row of the sites tree. All rows share one, which opens beside the button that was pressed.
import { Menu } from '@mantine/core'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import { BellOffIcon, BinIcon, EditIcon, PlusIcon } from '../../parts/page/icons.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { StartTask } from './site-tasks.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'
import classes from './sites.module.css'

const nameOf = (subject: RowSubject) =>
  `Actions for ${'region' in subject ? subject.region.name : subject.location.name}`

type RowSubject = { readonly region: RegionNode } | { readonly location: LocationNode }
export type OpenRowMenu = (subject: RowSubject, button: HTMLButtonElement) => void

interface RowMenuProps {
  /** Sessions that may not write get undefined. */
  readonly start: StartTask | undefined
  /** Sessions that may not operate get undefined. */
  readonly silence: StartTask | undefined
  readonly mayChangeRegions: boolean
}

export interface RowMenu {
  readonly open: OpenRowMenu
  /** Rendered inside the element with position relative that has the rows. */
  readonly menu: ReactNode
}

export function useRowMenu({ start, silence, mayChangeRegions }: RowMenuProps): RowMenu {
  const [subject, setSubject] = useState<RowSubject>()
  const [isOpen, setOpen] = useState(false)
  const anchor = useRef<HTMLSpanElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  const open = useCallback<OpenRowMenu>((next, button) => {
    const [box, around] = [button.getBoundingClientRect(), anchor.current?.offsetParent?.getBoundingClientRect()]
    if (!anchor.current || !around) return
    anchor.current.style.top = `${box.bottom - around.top}px`
    anchor.current.style.left = `${box.right - around.left}px`
    opener.current = button
    setSubject(next)
    setOpen(true)
  }, [])
  const close = () => {
    setOpen(false)
    opener.current?.focus()
  }
  const menu = (
    <Menu opened={isOpen} onClose={close} position="bottom-end" width={200} returnFocus={false}>
      <Menu.Target>
        {/* The menu takes its name from here; the button that was pressed is what opens it. */}
        <span ref={anchor} className={classes.menuAnchor} aria-hidden="true">
          {subject && <VisuallyHidden>{nameOf(subject)}</VisuallyHidden>}
        </span>
      </Menu.Target>
      <Menu.Dropdown>
        {subject && 'region' in subject && (
          <RegionItems region={subject.region} start={start} mayChange={mayChangeRegions} />
        )}
        {subject && 'location' in subject && (
          <LocationItems location={subject.location} start={start} silence={silence} />
        )}
      </Menu.Dropdown>
    </Menu>
  )
  return { open, menu }
}

interface RegionItemsProps {
  readonly region: RegionNode
  readonly start: StartTask | undefined
  readonly mayChange: boolean
}

const RegionItems = ({ region: { id }, start, mayChange }: RegionItemsProps) =>
  start && (
    <>
      <Menu.Item leftSection={<PlusIcon />} onClick={() => start({ kind: 'new-location', regionId: id })}>
        New location
      </Menu.Item>
      {mayChange && (
        <>
          <Menu.Item leftSection={<EditIcon />} onClick={() => start({ kind: 'edit-region', id })}>
            Edit region
          </Menu.Item>
          <Menu.Item
            c="var(--rk-offline)"
            leftSection={<BinIcon />}
            onClick={() => start({ kind: 'delete-region', id })}
          >
            Delete region
          </Menu.Item>
        </>
      )}
    </>
  )

interface LocationItemsProps {
  readonly location: LocationNode
  readonly start: StartTask | undefined
  readonly silence: StartTask | undefined
}

const LocationItems = ({ location: { id }, start, silence }: LocationItemsProps) => (
  <>
    {start && (
      <Menu.Item leftSection={<EditIcon />} onClick={() => start({ kind: 'edit-location', id })}>
        Edit location
      </Menu.Item>
    )}
    {silence && (
      <Menu.Item leftSection={<BellOffIcon />} onClick={() => silence({ kind: 'silence-location', id })}>
        Silence
      </Menu.Item>
    )}
    {start && (
      <Menu.Item c="var(--rk-offline)" leftSection={<BinIcon />} onClick={() => start({ kind: 'delete-location', id })}>
        Delete location
      </Menu.Item>
    )}
  </>
)
