// The steps of the wizard by name. Those that are done say what was chosen, and lead back.
import { UnstyledButton } from '@mantine/core'
import { actionOf } from '../../../domain/jobs/action/action-forms.ts'
import { useActionText } from '../../../domain/jobs/action-name.ts'
import { scheduleText } from '../../../domain/jobs/recurring-job.ts'
import { useTargetText } from '../../../domain/jobs/target-text.ts'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import classes from './new-job.module.css'
import { chosenTarget, hasStages, type WizardState, type WizardStep, wizardSteps } from './wizard-state.ts'

const stepName = (step: WizardStep, { isRecurring }: WizardState): string =>
  ({ action: 'Action', target: 'Devices', rollout: isRecurring ? 'Schedule' : 'Rollout', plan: 'Plan' })[step]

interface WizardStepsProps {
  readonly state: WizardState
  readonly step: WizardStep
  readonly onStep: (step: WizardStep) => void
}

export const WizardSteps = ({ state, step, onStep }: WizardStepsProps) => (
  <ol className={classes.steps} aria-label="Steps">
    {wizardSteps.map((one) => (
      <li key={one} {...(one === step && { 'aria-current': 'step' })}>
        {wizardSteps.indexOf(one) < wizardSteps.indexOf(step) ? (
          <>
            <UnstyledButton className={classes.done ?? ''} onClick={() => onStep(one)}>
              {stepName(one, state)}
            </UnstyledButton>
            <LoadingBoundary skeleton={null}>
              <Chosen state={state} step={one} />
            </LoadingBoundary>
          </>
        ) : (
          stepName(one, state)
        )}
      </li>
    ))}
  </ol>
)

function Chosen({ state, step }: Pick<WizardStepsProps, 'state' | 'step'>) {
  const action = actionOf(state)
  const textOf = useActionText(action ? [action] : [])
  const describe = useTargetText()
  const { exclude, ...target } = chosenTarget(state) ?? {}
  const texts: Readonly<Record<WizardStep, string>> = {
    action: action ? textOf(action) : '',
    target: describe(target) + (exclude ? ` Except ${describe(exclude)}` : ''),
    rollout: rolloutText(state),
    plan: '',
  }
  return (
    <span className={classes.chosen} title={texts[step]}>
      {texts[step]}
    </span>
  )
}

function rolloutText(state: WizardState): string {
  if (state.isRecurring) return scheduleText(state.schedule)
  return hasStages(state) ? `In ${state.stages.length + 1} stages` : 'All together'
}
