// The wizard for a job or a recurring job: action, devices, rollout or schedule, and plan. It starts empty, with a job that is run again, or with a recurring job that is edited. [contract 12.job]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { operationQuery } from '../../../api.ts'
import { useActionText } from '../../../domain/jobs/action-name.ts'
import { jobNameOf } from '../../../domain/jobs/job-name.ts'
import { scheduleText } from '../../../domain/jobs/recurring-job.ts'
import { EmptyState, ErrorPanel, LoadingBoundary, Page } from '../../../parts/page/page.tsx'
import { Loading } from '../../../parts/page/skeleton.tsx'
import { LeaveGuard } from '../../../parts/settings-form/unsaved-changes.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { usePermissions } from '../../../session.ts'
import { ActionStep } from './action-step.tsx'
import { type EditedJob, PlanStep } from './plan-step.tsx'
import { RolloutStep } from './rollout-step.tsx'
import { TargetStep } from './target-step.tsx'
import { wizardOfJob, wizardOfRecurringJob } from './wizard-copy.ts'
import {
  emptyWizard,
  jobDraftOf,
  recurringDraftOf,
  stepProblem,
  type WizardState,
  type WizardStep,
  wizardSteps,
} from './wizard-state.ts'
import { WizardSteps } from './wizard-steps.tsx'

export function NewJobPage() {
  const { from, recurring } = useSearch({ from: '/jobs/new' })
  return (
    <WizardPage title={recurring ? 'New recurring job' : 'New job'}>
      {from === undefined ? (
        <Wizard initial={recurring ? { ...emptyWizard, isRecurring: true } : emptyWizard} />
      ) : (
        <CopyOfJob id={from} />
      )}
    </WizardPage>
  )
}

function CopyOfJob({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    ...operationQuery('jobsGet', { id }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    <Stack>
      <Notice tone="quiet">
        A copy of{' '}
        <Link to="/jobs/$jobId" params={{ jobId: id }}>
          {data.body.name}
        </Link>
        , for the devices that match now. Times and passwords are not copied.
      </Notice>
      <Wizard initial={wizardOfJob(data.body)} />
    </Stack>
  )
}

export function EditRecurringJobPage() {
  const { recurringJobId: id } = useParams({ from: '/jobs/recurring/$recurringJobId/edit' })
  const query = { ...operationQuery('recurringJobsGet', { id }), staleTime: Number.POSITIVE_INFINITY }
  const { data, error, refetch } = useQuery(query)
  return (
    <WizardPage title={data ? `Edit ${data.body.name}` : 'Edit recurring job'}>
      {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data && <Wizard initial={wizardOfRecurringJob(data.body)} edited={{ id, etag: data.etag }} />}
    </WizardPage>
  )
}

function WizardPage({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { operate } = usePermissions()
  return (
    <Page
      title={title}
      above={
        <Text fz="sm" component="nav" aria-label="Breadcrumb">
          <Link to="/jobs" activeOptions={{ exact: true }}>
            Jobs
          </Link>
        </Text>
      }
    >
      {operate ? children : <EmptyState title="Your role cannot create jobs">Ask an admin.</EmptyState>}
    </Page>
  )
}

interface WizardProps {
  readonly initial: WizardState
  readonly edited?: EditedJob
}

/** A copy starts with its plan, or with the first step that lacks something. */
const firstStepOf = (state: WizardState): WizardStep =>
  wizardSteps.find((step) => step === 'plan' || stepProblem(state, step, Date.now()) !== undefined) ?? 'plan'

function Wizard({ initial, edited }: WizardProps) {
  const navigate = useNavigate()
  const [first] = useState(initial)
  const [state, setState] = useState(initial)
  const [step, setStep] = useState<WizardStep>(() => firstStepOf(initial))
  const index = wizardSteps.indexOf(step)
  const change = (changes: Partial<WizardState>) => setState((before) => ({ ...before, ...changes }))
  const { draft, recurringDraft } = useDraftsOf(state)
  const body = useFocusOnStep(step)
  const back = index > 0 && (
    <Button variant="default" onClick={() => setStep(wizardSteps[index - 1] ?? 'action')}>
      Back
    </Button>
  )
  const leave = { replace: true, ignoreBlocker: true } as const
  const open = (jobId: string) => navigate({ to: '/jobs/$jobId', params: { jobId }, ...leave })
  const openRecurring = (recurringJobId: string) =>
    navigate({ to: '/jobs/recurring/$recurringJobId', params: { recurringJobId }, ...leave })
  const props = { state, onChange: change }
  return (
    <Stack>
      <WizardSteps state={state} step={step} onStep={setStep} />
      <div ref={body} tabIndex={-1} style={{ outline: 'none' }}>
        <LoadingBoundary>
          {step === 'action' && <ActionStep {...props} isEdit={edited !== undefined} />}
          {step === 'target' && <TargetStep {...props} />}
          {step === 'rollout' && <RolloutStep {...props} />}
          {step === 'plan' && draft && (
            <PlanStep
              draft={draft}
              recurringDraft={recurringDraft}
              edited={edited}
              name={state.name}
              onName={(name) => change({ name })}
              back={back}
              onCreated={open}
              onRecurring={openRecurring}
            />
          )}
        </LoadingBoundary>
      </div>
      {step !== 'plan' && (
        <NextButtons
          back={back}
          problem={stepProblem(state, step, Date.now())}
          onNext={() => setStep(wizardSteps[index + 1] ?? 'plan')}
        />
      )}
      <LeaveGuard count={state === first ? 0 : 1} what="this job" />
    </Stack>
  )
}

/** A job without a name is called after its action, and a recurring one after its schedule too. */
function useDraftsOf(state: WizardState) {
  const unnamed = jobDraftOf(state, '')
  const textOf = useActionText(unnamed ? [unnamed.action] : [])
  if (!unnamed) return {}
  const subject = state.isRecurring ? scheduleText(state.schedule) : ''
  const name = state.name.trim() || jobNameOf(textOf(unnamed.action), subject)
  return { draft: { ...unnamed, name }, recurringDraft: state.isRecurring ? recurringDraftOf(state, name) : undefined }
}

/** A new step gets the focus, so that screen readers continue there, and begins at its top. */
function useFocusOnStep(step: WizardStep) {
  const body = useRef<HTMLDivElement>(null)
  const first = useRef(step)
  useEffect(() => {
    if (first.current === step) return
    first.current = step
    body.current?.focus({ preventScroll: true })
    scrollTo({ top: 0 })
  }, [step])
  return body
}

interface NextButtonsProps {
  readonly back: React.ReactNode
  readonly problem: string | undefined
  readonly onNext: () => void
}

const NextButtons = ({ back, problem, onNext }: NextButtonsProps) => (
  <Group gap="xs">
    {back}
    <Button disabled={problem !== undefined} onClick={onNext}>
      Next
    </Button>
    <Text role="status" fz="sm" c="dimmed">
      {problem}
    </Text>
  </Group>
)
