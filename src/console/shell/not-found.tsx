// The page for an address that does not exist.
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState, Page } from '../parts/page/page.tsx'
import { usePermissions } from '../session.ts'

export function NotFound() {
  const { auditLog } = usePermissions()
  return (
    <Page title="Page not found">
      <EmptyState title="There is no page at this address">
        <p>Check the address, or start from the overview.{auditLog && ' The audit log lists what was deleted.'}</p>
        <Button component={Link} to="/" variant="default">
          Go to overview
        </Button>
      </EmptyState>
    </Page>
  )
}
