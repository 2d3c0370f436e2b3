// What is shown for a device that is not there, or no longer.
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState, Page } from '../../parts/page/page.tsx'

export const NoSuchDevice = () => (
  <Page title="No such device">
    <EmptyState title="There is no device at this address.">
      <p>
        It may have been unenrolled; the audit log knows when and by whom. A device that enrols again after that has a
        new address.
      </p>
      <Button component={Link} to="/devices" variant="default">
        To the devices
      </Button>
    </EmptyState>
  </Page>
)
