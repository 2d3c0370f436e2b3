// The menu of a list's saved views: opens, saves, changes, shares and deletes one, and copies its link.
import { Button, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { ViewPage } from '../../../../contract/people/views.ts'
import { queryClient, useWrite } from '../../../api.ts'
import { pathUnderBase } from '../../../base-path.ts'
import { CheckIcon, DownIcon } from '../../../parts/page/icons.tsx'
import { usePermissions } from '../../../session.ts'
import {
  isChanged,
  type ListSearch,
  pageNames,
  queryOf,
  type SavedView,
  savedColumnsOf,
  searchOf,
  useListSearch,
  useViews,
} from './saved-view.ts'
import { ViewDialogs, type ViewDraft, type ViewTask } from './view-form.tsx'
import { ViewLink } from './view-link.tsx'

interface ViewsMenuProps {
  readonly page: ViewPage
  /** The columns that the user has chosen in this browser; undefined if the width of the window decides. */
  readonly chosenColumns?: readonly string[] | undefined
}

export function ViewsMenu({ page, chosenColumns }: ViewsMenuProps) {
  const { write } = usePermissions()
  const search = useListSearch()
  const { views, isLoaded } = useViews()
  const [isOpen, menu] = useDisclosure(false)
  const [task, setTask] = useState<ViewTask>()
  const update = useWrite('viewsUpdate', { successText: 'View saved' })
  const open = useOpenSearch(page)
  const ofPage = views.filter((view) => view.page === page)
  const current = ofPage.find(({ id }) => id === search.view)
  useViewAlone(search, isLoaded, current, open)
  const draft: ViewDraft = { page, query: queryOf(search), columns: savedColumnsOf(search) ?? chosenColumns }
  const hasChanged = current !== undefined && isChanged(current, search)
  const mayEdit = current !== undefined && (write || !current.shared)
  const openMenu = () => {
    menu.open()
    // Another tab of a viewer gets no event about the viewer's own views.
    void queryClient.invalidateQueries({ queryKey: ['viewsList'] })
  }
  const saveChanges = () =>
    current &&
    update.mutate({
      input: { id: current.id, body: { query: draft.query, columns: draft.columns ? [...draft.columns] : null } },
      ifMatch: `"${current.version}"`,
    })
  const copyLink = () =>
    current &&
    void navigator.clipboard
      .writeText(`${location.origin}${pathUnderBase(`/${page}`)}?view=${current.id}`)
      .then(() => notifications.show({ message: 'Link copied', color: 'green' }))
  return (
    <>
      <Menu
        opened={isOpen}
        onOpen={openMenu}
        onClose={menu.close}
        position="bottom-end"
        width={280}
        withinPortal={false}
      >
        <Menu.Target>
          <Button
            variant="subtle"
            size="compact-sm"
            maw={240}
            style={{ flex: '0 1 auto' }}
            rightSection={<DownIcon size={14} />}
            aria-label={current ? `View: ${current.name}` : 'Views'}
          >
            {current ? `${current.name}${hasChanged ? ' (changed)' : ''}` : 'Views'}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah="min(440px, 70dvh)" style={{ overflowY: 'auto' }}>
          <ViewItems label="Your views" views={ofPage.filter(({ shared }) => !shared)} current={current} />
          <ViewItems label="Shared views" views={ofPage.filter(({ shared }) => shared)} current={current} />
          {ofPage.length > 0 && <Menu.Divider />}
          {hasChanged && mayEdit && <Menu.Item onClick={saveChanges}>Save changes</Menu.Item>}
          <Menu.Item onClick={() => setTask('save')}>Save as new view…</Menu.Item>
          {current && <Menu.Item onClick={copyLink}>Copy link</Menu.Item>}
          {mayEdit && <Menu.Item onClick={() => setTask('edit')}>Rename or share…</Menu.Item>}
          {mayEdit && (
            <Menu.Item c="var(--rk-offline)" onClick={() => setTask('delete')}>
              Delete…
            </Menu.Item>
          )}
          {current && <Menu.Item onClick={() => open({})}>All {pageNames[page].toLowerCase()}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      <ViewDialogs
        task={task}
        draft={draft}
        view={current}
        onClose={() => setTask(undefined)}
        onSaved={(view) => open(searchOf(view))}
        onDeleted={() => open({})}
      />
    </>
  )
}

/** Replaces the search parameters of the list. */
function useOpenSearch(page: ViewPage): (search: ListSearch) => void {
  const navigate = useNavigate()
  return (search) => void navigate({ to: `/${page}`, search: search as never, replace: true })
}

/** A link can name a view and nothing else. Its filters are then written into the address. */
function useViewAlone(
  search: ListSearch,
  isLoaded: boolean,
  current: SavedView | undefined,
  open: (search: ListSearch) => void,
): void {
  const isAlone =
    search.view !== undefined && Object.entries(search).every(([name, value]) => name === 'view' || value === undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another address or the first answer opens a view
  useEffect(() => {
    if (!isAlone || !isLoaded) return
    if (!current) {
      notifications.show({ message: 'This view was deleted, or is not shared with you.', color: 'yellow' })
      open({})
    } else if (isChanged(current, search)) open(searchOf(current))
  }, [isAlone, isLoaded, search.view])
}

interface ViewItemsProps {
  readonly label: string
  readonly views: readonly SavedView[]
  readonly current: SavedView | undefined
}

const ViewItems = ({ label, views, current }: ViewItemsProps) =>
  views.length > 0 && (
    <>
      <Menu.Label>{label}</Menu.Label>
      {views.map((view) => (
        <Menu.Item
          key={view.id}
          leftSection={view === current && <CheckIcon size={14} />}
          renderRoot={(props) => <ViewLink view={view} {...props} />}
        >
          {view.name}
        </Menu.Item>
      ))}
    </>
  )
