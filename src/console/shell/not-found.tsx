// What is shown for an address that leads nowhere.
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState, Page } from '../parts/page/page.tsx'

export const NotFound = () => (
  <Page title="Nothing is here">
    <EmptyState title="This address leads to no page.">
      <p>It may have been mistyped, or what it showed was deleted. The audit log knows what was.</p>
      <Button component={Link} to="/" variant="default">
        To the overview
      </Button>
    </EmptyState>
  </Page>
)
