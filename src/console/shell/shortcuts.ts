// Shortcuts of single keys: / for the search, ? for the list of keys, and g with a letter for a page.
import { useLocalStorage } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useNavigationItems } from './navigation.ts'

/** The second key of a page's shortcut has to follow the first within this time. */
const sequenceMs = 1500

/** Single keys can be turned off, because programs that type what a person says would press them by mistake. */
export const useShortcutsSetting = () =>
  useLocalStorage<boolean>({
    key: 'roomkeeper-shortcuts',
    defaultValue: true,
    getInitialValueInEffect: false,
    deserialize: (text) => text !== 'off',
    serialize: (isOn) => (isOn ? 'on' : 'off'),
  })

interface ShortcutActions {
  readonly search: () => void
  readonly showKeys: () => void
}

export function useShortcuts({ search, showKeys }: ShortcutActions): void {
  const [isOn] = useShortcutsSetting()
  const navigate = useNavigate()
  const pages = useNavigationItems()
  useEffect(() => {
    if (!isOn) return undefined
    let startedMs = Number.NEGATIVE_INFINITY
    const handle = (event: KeyboardEvent) => {
      if (!isForShortcuts(event)) return
      const isSecond = event.timeStamp - startedMs < sequenceMs
      startedMs = Number.NEGATIVE_INFINITY
      const page = isSecond ? pages.find(({ key }) => key === event.key) : undefined
      if (page) void navigate({ to: page.to })
      else if (event.key === '/') focusSearch() || search()
      else if (event.key === '?') showKeys()
      else if (event.key === 'g') startedMs = event.timeStamp
      else return
      event.preventDefault()
    }
    addEventListener('keydown', handle)
    return () => removeEventListener('keydown', handle)
  }, [isOn, navigate, pages, search, showKeys])
}

/** Keys with Ctrl, Alt or Meta are the browser's, and keys in a field or a dialog are its own. */
function isForShortcuts({ ctrlKey, altKey, metaKey, isComposing, defaultPrevented, target }: KeyboardEvent): boolean {
  if (ctrlKey || altKey || metaKey || isComposing || defaultPrevented) return false
  const element = target instanceof Element ? target : document.body
  if (element.matches('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return false
  return element.closest('[role="dialog"], [role="menu"], [role="listbox"]') === null && !isDialogOpen()
}

const isDialogOpen = (): boolean => document.querySelector('[role="dialog"][aria-modal="true"]') !== null

/** Whether the page has a search box. */
function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main search input')
  field?.focus()
  field?.select()
  return field !== null
}
