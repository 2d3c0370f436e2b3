// The sites page shows regions and locations as a tree with the state of their rooms, and opens dialogs to change them.
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { PlusIcon } from '../../parts/page/icons.tsx'
import { Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'
import { SiteDialogs } from './site-dialogs.tsx'
import type { SiteTask } from './site-tasks.ts'
import { SitesTree } from './sites-tree.tsx'
import { useSiteTree } from './use-site-tree.ts'

export function SitesPage() {
  const { tree, rooms } = useSiteTree()
  const may = usePermissions()
  const [task, setTask] = useState<SiteTask>()
  const [opened, dialog] = useDisclosure(false)
  const start = useCallback(
    (next: SiteTask) => {
      setTask(next)
      dialog.open()
    },
    [dialog.open],
  )
  const actions = may.write && (
    <>
      <Button variant="default" component={Link} to="/sites/import">
        Import
      </Button>
      {may.everywhere && (
        <Button variant="default" leftSection={<PlusIcon />} onClick={() => start({ kind: 'new-region' })}>
          New region
        </Button>
      )}
      {(may.everywhere || tree.regions.length > 0) && (
        <Button leftSection={<PlusIcon />} onClick={() => start({ kind: 'new-location', regionId: undefined })}>
          New location
        </Button>
      )}
    </>
  )
  return (
    <Page title="Sites" actions={actions}>
      <SitesTree
        tree={tree}
        start={may.write ? start : undefined}
        silence={may.operate ? start : undefined}
        mayChangeRegions={may.everywhere}
      />
      <SiteDialogs task={task} opened={opened} onClose={dialog.close} tree={tree} rooms={rooms} />
    </Page>
  )
}
