// The page of one incident: what to do, its facts, its subjects and its timeline, and the buttons to work on it. [contract 10.states]
import { Button, Grid, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ApiError } from '../../../client/client.ts'
import { operationQuery } from '../../api.ts'
import { type IncidentDetails, isOpenIncident } from '../../domain/incidents/incident.ts'
import { stateName } from '../../domain/incidents/incident-state.ts'
import { SeverityLabel } from '../../domain/incidents/severity-label.tsx'
import { EmptyState, ErrorPanel, Page, Section } from '../../parts/page/page.tsx'
import { PageSkeleton } from '../../parts/page/skeleton.tsx'
import { Notice } from '../../parts/text/notice.tsx'
import { usePermissions } from '../../session.ts'
import { IncidentButtons } from './incident-buttons.tsx'
import { IncidentProperties } from './incident-properties.tsx'
import { IncidentTimeline } from './incident-timeline.tsx'
import { SubjectsTable } from './subjects-table.tsx'

export function IncidentPage() {
  const { incidentId } = useParams({ from: '/incidents/$incidentId' })
  const { data, error, refetch } = useQuery(operationQuery('incidentsGet', { id: incidentId }))
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return <IncidentNotFound />
  if (data) return <IncidentView incident={data.body} />
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return <PageSkeleton />
}

function IncidentView({ incident }: { readonly incident: IncidentDetails }) {
  const { operate } = usePermissions()
  return (
    <Page
      title={incident.title}
      above={
        <Text fz="sm" component="nav" aria-label="Breadcrumb">
          <Link to="/incidents" activeOptions={{ exact: true }}>
            Incidents
          </Link>
        </Text>
      }
      beside={
        <Group gap="sm">
          <SeverityLabel severity={incident.severity} isBadge={isOpenIncident(incident)} />
          <Text span c="dimmed" fz="sm">
            {stateName(incident.state)}
          </Text>
        </Group>
      }
      actions={operate && <IncidentButtons incident={incident} />}
    >
      {incident.hint && isOpenIncident(incident) && (
        <Notice tone="quiet" title="What to do">
          {incident.hint}
        </Notice>
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            <Section title="Details">
              <IncidentProperties incident={incident} />
            </Section>
            <Section title="Affected">
              <SubjectsTable incident={incident} />
            </Section>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Section title="Timeline">
            <IncidentTimeline incident={incident} />
          </Section>
        </Grid.Col>
      </Grid>
    </Page>
  )
}

const IncidentNotFound = () => (
  <Page title="Incident not found">
    <EmptyState title="There is no incident at this address">
      <p>The incident may be outside your regions, or deleted after 400 days. Check the address.</p>
      <Button component={Link} to="/incidents">
        View incidents
      </Button>
    </EmptyState>
  </Page>
)
