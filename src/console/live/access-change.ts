// Reloads the console when role or regions of the person have changed, because every page depends on them. [contract 11.access]
import { notifications } from '@mantine/notifications'
import { hasUnsavedInput } from '../parts/recovery/unsaved-input.ts'
import { hasAccessChanged } from '../session.ts'

/** An error is ignored: the requests of the page show it too. */
export async function reloadIfAccessChanged(): Promise<void> {
  if (!(await hasAccessChanged().catch(() => false))) return
  if (!hasUnsavedInput()) return location.reload()
  notifications.show({
    id: 'access-changed',
    title: 'Your access has changed',
    message: 'Copy what you have entered, then reload this page.',
    color: 'orange',
    autoClose: false,
  })
}
