// Knows whether the page holds input that a reload would throw away.

const edited = new Set<HTMLInputElement | HTMLTextAreaElement>()
const dirtyForms = new Set<object>()

/** Starts to remember the fields that the user types into. */
export const trackInput = (): void =>
  document.addEventListener(
    'input',
    ({ target }) => {
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) edited.add(target)
    },
    { capture: true },
  )

/** A form that knows whether it has unsaved changes says so here, also for fields that are no text fields. */
export function markForm(form: object, isDirty: boolean): void {
  if (isDirty) dirtyForms.add(form)
  else dirtyForms.delete(form)
}

/** A saved field that still shows its text counts too: then a button is shown instead of an automatic reload. */
export function hasUnsavedInput(): boolean {
  for (const field of edited) if (!field.isConnected) edited.delete(field)
  const hasText = [...edited].some((field) => field.value !== '' && field.type !== 'search')
  return hasText || dirtyForms.size > 0 || document.querySelector('[role="dialog"] form') !== null
}
