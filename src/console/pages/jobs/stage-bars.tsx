// One bar for each stage of a job: how many of its rooms are in which state. Each count leads to its rooms.
import { Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { JobDetails } from '../../domain/jobs/job.ts'
import { UnitStateLabel } from '../../domain/jobs/job-state.tsx'
import { waitNoun } from '../../domain/jobs/job-texts.ts'
import { ProgressBar, shownStates } from '../../domain/jobs/progress-bar.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './jobs.module.css'

export const StageBars = ({ job }: { readonly job: JobDetails }) => (
  <>
    <ol className={classes.stages} aria-label="Stages">
      {job.stageCounts.map(({ unitCount, counts, startedAt }, index) => {
        const stage = index + 1
        return (
          <li key={stage} className={classes.stage} data-future={startedAt === undefined || undefined}>
            <Group gap="xs" justify="space-between">
              <Text fw={600} fz="sm">
                {job.stageCount === 1 ? 'All rooms' : `Stage ${stage}`}
                {job.stages?.[index]?.manual && ' (waits for approval)'}
              </Text>
              <Text fz="sm" c="dimmed">
                {plural(unitCount, 'room')}
                {startedAt !== undefined && (
                  <>
                    {' '}
                    · started <DateTime at={startedAt} />
                  </>
                )}
              </Text>
            </Group>
            <ProgressBar counts={counts} />
            <div className={classes.counts}>
              {shownStates(counts).map(({ state, count }) => (
                <Link
                  key={state}
                  to="/jobs/$jobId"
                  params={{ jobId: job.id }}
                  search={{ state, stage: String(stage) }}
                  replace
                  resetScroll={false}
                >
                  <UnitStateLabel state={state} /> {count.toLocaleString('en-GB')}
                </Link>
              ))}
            </div>
          </li>
        )
      })}
    </ol>
    <Waiting waiting={job.waiting} />
  </>
)

/** "3 rooms are waiting for the change window (2), an empty room (1)"; one reason needs no count of its own. */
function Waiting({ waiting }: { readonly waiting: JobDetails['waiting'] }) {
  const reasons = Object.entries(waiting).filter(([, count]) => count > 0)
  if (reasons.length === 0) return null
  const total = reasons.reduce((sum, [, count]) => sum + count, 0)
  const countOf = (count: number) => (reasons.length > 1 ? ` (${count.toLocaleString('en-GB')})` : '')
  const list = reasons.map(([reason, count]) => waitNoun(reason) + countOf(count)).join(', ')
  return (
    <Text fz="sm" mt="sm">
      {plural(total, 'room')} {total === 1 ? 'is' : 'are'} waiting for {list}
    </Text>
  )
}
