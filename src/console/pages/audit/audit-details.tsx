// Shows the details of an audit entry: the difference, further targets, and the origin of the request.
import { Code, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { DiffTable } from '../../parts/text/diff-table.tsx'
import { fullTime } from '../../parts/text/time.tsx'
import classes from './audit.module.css'
import type { AuditLogEntry } from './audit-entries.ts'
import type { AuditSearch } from './audit-filters.tsx'
import { actorTypeNames, categoryNames } from './audit-names.ts'
import { TargetName, type Targets } from './audit-target.tsx'

interface AuditDetailsProps {
  readonly entry: AuditLogEntry
  readonly targets: Targets
  readonly nameOfJob: (id: string) => string
}

const maxAffectedShown = 50

export function AuditDetails({ entry, targets, nameOfJob }: AuditDetailsProps) {
  const { before, after, affected = [], jobId } = entry.details ?? {}
  return (
    <Stack gap="md" className={classes.details}>
      {!entry.details && (
        <Text fz="sm" c="dimmed">
          This entry is also about other regions, so its details are not shown to you.
        </Text>
      )}
      {(before || after) && <DiffTable before={before} after={after} />}
      {affected.length > 0 && (
        <div>
          <Text fz="sm" fw={600} mb={4}>
            Also affected
          </Text>
          <ul className={classes.affected}>
            {affected.slice(0, maxAffectedShown).map((target) => (
              <li key={`${target.type} ${target.id}`}>
                <TargetName target={target} targets={targets} />
                {target.serial && (
                  <Text span fz="sm" c="dimmed">
                    {' '}
                    {target.serial}
                  </Text>
                )}
              </li>
            ))}
            {affected.length > maxAffectedShown && (
              <li>and {affected.length - maxAffectedShown} more (see the export)</li>
            )}
          </ul>
        </div>
      )}
      <dl className={classes.facts}>
        <Fact name="Time">{fullTime(Date.parse(entry.timestamp))}</Fact>
        <Fact name="Actor">
          {actorTypeNames[entry.actor.type]}: {entry.actor.name || entry.actor.id}
        </Fact>
        {jobId !== undefined && (
          <Fact name="Job">
            <Link to="/jobs/$jobId" params={{ jobId }}>
              {nameOfJob(jobId)}
            </Link>
          </Fact>
        )}
        <Fact name="Category">{categoryNames[entry.category]}</Fact>
        {entry.ip && <Fact name="IP address">{entry.ip}</Fact>}
        {entry.requestId && (
          <Fact name="Request ID">
            <Code>{entry.requestId}</Code>
          </Fact>
        )}
        <Fact name="Entry number">{entry.id}</Fact>
      </dl>
      <Group gap="md">
        {entry.target && (
          <OnlyLink search={{ target: `${entry.target.type}:${entry.target.id}` }}>All changes of this target</OnlyLink>
        )}
        {entry.actor.id && (
          <OnlyLink search={{ actor: `${entry.actor.type}:${entry.actor.id}` }}>All changes by this actor</OnlyLink>
        )}
      </Group>
    </Stack>
  )
}

/** Shows the entries of the period that one filter finds, and takes back the other filters. */
export const OnlyLink = ({ search, children }: { readonly search: AuditSearch; readonly children: ReactNode }) => (
  <Text fz="sm">
    <Link
      from="/audit"
      to="/audit"
      search={({ from, to }) => ({ ...(from && { from }), ...(to && { to }), ...search })}
    >
      {children}
    </Link>
  </Text>
)

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
