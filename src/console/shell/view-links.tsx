// The saved views in the navigation: the person's own, then the shared ones. [contract 11.views]
import { NavLink, Text } from '@mantine/core'
import { useId } from 'react'
import { useListSearch, useViews } from '../domain/people/view/saved-view.ts'
import { ViewLink } from '../domain/people/view/view-link.tsx'
import { usePermissions } from '../session.ts'
import { useNavigationItems } from './navigation.ts'

/** More would hide the pages; the menu above each list has all views. */
const maxShown = 20

export function ViewLinks() {
  const heading = useId()
  const { views } = useViews()
  const { auditLog } = usePermissions()
  const items = useNavigationItems()
  const { view: open } = useListSearch()
  const allowed = views.filter(({ page }) => page !== 'audit' || auditLog)
  if (allowed.length === 0) return null
  const shown = allowed.toSorted((a, b) => Number(a.shared) - Number(b.shared)).slice(0, maxShown)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls of a form
    <div role="group" aria-labelledby={heading}>
      <Text id={heading} fz="xs" c="dimmed" px="sm" pt="md" pb={4}>
        Views
      </Text>
      {shown.map((view) => {
        const Icon = items.find(({ to }) => to === `/${view.page}`)?.icon
        return (
          <NavLink
            key={view.id}
            label={view.name}
            leftSection={Icon && <Icon />}
            active={view.id === open}
            variant="light"
            renderRoot={(props) => <ViewLink view={view} {...props} />}
            style={{ borderRadius: 'var(--mantine-radius-md)' }}
            styles={{ label: { overflowWrap: 'anywhere' } }}
          />
        )
      })}
      {allowed.length > maxShown && (
        <Text fz="xs" c="dimmed" px="sm" pt={4}>
          {allowed.length - maxShown} more in the menus above the lists
        </Text>
      )}
    </div>
  )
}
