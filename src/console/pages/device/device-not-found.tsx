// Tells that a device does not exist or was unenrolled.
import { Button } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { usePermissions } from '../../session.ts'

export function DeviceNotFound() {
  const { endpointId } = useParams({ from: '/devices/$endpointId' })
  const { auditLog } = usePermissions()
  return (
    <Page title="Device not found">
      <EmptyState title="There is no device at this address">
        <p>
          The device may have been unenrolled
          {auditLog && (
            <>
              ; see the{' '}
              <Link to="/audit" search={{ from: '30d', target: `endpoint:${endpointId}` }}>
                audit log
              </Link>
            </>
          )}
          . A device that enrols again gets a new address.
        </p>
        <Button component={Link} to="/devices" variant="default">
          View all devices
        </Button>
      </EmptyState>
    </Page>
  )
}
