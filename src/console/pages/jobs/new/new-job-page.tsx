// The wizard for a new job: action, devices, rollout and plan, then start. [contract 12.job]
import { Button, Group, Stack, Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useActionText } from '../../../domain/jobs/action-name.ts'
import { jobNameOf } from '../../../domain/jobs/job-name.ts'
import { EmptyState, LoadingBoundary, Page } from '../../../parts/page/page.tsx'
import { LeaveGuard } from '../../../parts/settings-form/unsaved-changes.tsx'
import { usePermissions } from '../../../session.ts'
import { ActionStep } from './action-step.tsx'
import classes from './new-job.module.css'
import { PlanStep } from './plan-step.tsx'
import { RolloutStep } from './rollout-step.tsx'
import { TargetStep } from './target-step.tsx'
import { emptyWizard, jobDraftOf, stepProblem, type WizardState, type WizardStep, wizardSteps } from './wizard-state.ts'

const stepNames: Readonly<Record<WizardStep, string>> = {
  action: 'Action',
  target: 'Devices',
  rollout: 'Rollout',
  plan: 'Plan',
}

export function NewJobPage() {
  const { operate } = usePermissions()
  return (
    <Page
      title="New job"
      above={
        <Text fz="sm" component="nav" aria-label="Breadcrumb">
          <Link to="/jobs" activeOptions={{ exact: true }}>
            Jobs
          </Link>
        </Text>
      }
    >
      {operate ? <Wizard /> : <EmptyState title="Your role cannot create jobs">Ask an admin.</EmptyState>}
    </Page>
  )
}

function Wizard() {
  const navigate = useNavigate()
  const [state, setState] = useState<WizardState>(emptyWizard)
  const [step, setStep] = useState<WizardStep>('action')
  const index = wizardSteps.indexOf(step)
  const change = (changes: Partial<WizardState>) => setState((before) => ({ ...before, ...changes }))
  const draft = useDraftOf(state)
  const body = useFocusOnStep(step)
  const back = index > 0 && (
    <Button variant="default" onClick={() => setStep(wizardSteps[index - 1] ?? 'action')}>
      Back
    </Button>
  )
  const open = (jobId: string) =>
    navigate({ to: '/jobs/$jobId', params: { jobId }, replace: true, ignoreBlocker: true })
  const props = { state, onChange: change }
  return (
    <Stack>
      <ol className={classes.steps} aria-label="Steps">
        {wizardSteps.map((one) => (
          <li key={one} {...(one === step && { 'aria-current': 'step' })}>
            {stepNames[one]}
          </li>
        ))}
      </ol>
      <div ref={body} tabIndex={-1} style={{ outline: 'none' }}>
        <LoadingBoundary>
          {step === 'action' && <ActionStep {...props} />}
          {step === 'target' && <TargetStep {...props} />}
          {step === 'rollout' && <RolloutStep {...props} />}
          {step === 'plan' && draft && (
            <PlanStep
              draft={draft}
              name={state.name}
              onName={(name) => change({ name })}
              back={back}
              onCreated={open}
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
      <LeaveGuard count={state === emptyWizard ? 0 : 1} what="this job" />
    </Stack>
  )
}

/** A job without a name is called after its action. */
function useDraftOf(state: WizardState) {
  const unnamed = jobDraftOf(state, '')
  const textOf = useActionText(unnamed ? [unnamed.action] : [])
  return unnamed && { ...unnamed, name: state.name.trim() || jobNameOf(textOf(unnamed.action)) }
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
